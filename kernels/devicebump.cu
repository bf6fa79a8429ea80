#include "block.h"

// A pool is so many bytes of memory, of which the word says how many are taken from the front. A request is rounded up to a
// multiple of 16; one of 0 bytes, or one that does not fit, is refused and takes nothing.
constexpr unsigned long long noRoom = ~0ull;

static inline __device__ unsigned long long rounded(unsigned long long size) { return (size + 15) & ~15ull; }

// fits tells whether a request fits behind so many bytes that are taken. size is compared before it is rounded, which may run over.
static inline __device__ bool fits(unsigned long long taken, unsigned long long capacity, unsigned long long size) {
    return size != 0 && size <= capacity && taken <= capacity && rounded(size) <= capacity - taken;
}

// alloc is what one thread does by itself: devicebump.Alloc, in CUDA C++.
static inline __device__ unsigned long long alloc(unsigned long long* word, unsigned long long capacity, unsigned long long size) {
    if (size == 0 || size > capacity) return noRoom;
    unsigned long long taken = *static_cast<volatile unsigned long long*>(word);
    while (fits(taken, capacity, size)) {
        unsigned long long found = atomicCAS(word, taken, taken + rounded(size));
        if (found == taken) return taken;
        taken = found;
    }
    return noRoom;
}

// allocTogether is what the threads of a group do with one change of the word: devicebump.AllocWarp, in CUDA C++. A group is
// so many threads of the block, one behind the other; the whole block has to come here. Each has a place in shared memory for what
// it asks for, and finds there what it got.
static inline __device__ unsigned long long allocTogether(unsigned group, unsigned long long* requests, unsigned long long* word,
                                                          unsigned long long capacity, unsigned long long size) {
    unsigned t = threadIdx.x, first = t / group * group;
    unsigned end = first + group < blockDim.x ? first + group : blockDim.x;
    requests[t] = size;
    __syncthreads();
    unsigned long long sum = 0;
    bool all = true; // requests could be granted, if there were room: no size is too large to be added
    if (t == first) {
        for (unsigned i = first; i < end; i++) {
            unsigned long long s = requests[i];
            if (s > capacity) all = false;
            else sum += rounded(s);
            if (sum > capacity) all = false;
        }
        unsigned long long taken = *static_cast<volatile unsigned long long*>(word);
        for (;;) {
            unsigned long long next = taken;
            if (all && taken <= capacity && sum <= capacity - taken) {
                next += sum;
            } else { // one by one: behind a request that is refused a smaller one may fit
                for (unsigned i = first; i < end; i++) {
                    if (fits(next, capacity, requests[i])) next += rounded(requests[i]);
                }
            }
            unsigned long long found = next == taken ? taken : atomicCAS(word, taken, next);
            if (found == taken) break;
            taken = found;
        }
        for (unsigned i = first; i < end; i++) {
            unsigned long long s = requests[i];
            bool granted = fits(taken, capacity, s);
            requests[i] = granted ? taken : noRoom;
            if (granted) taken += rounded(s);
        }
    }
    __syncthreads();
    return requests[t];
}

// stampWord is word i of the block of a thread.
static inline __device__ unsigned long long stampWord(unsigned tag, long long thread, unsigned long long i) {
    return static_cast<unsigned long long>(tag + static_cast<unsigned>(thread)) << 32 | (i & 0xFFFFFFFFull);
}

// keep notes where a thread's block begins, and stamps it.
static inline __device__ void keep(unsigned char* memory, const unsigned long long* sizes, unsigned tag, unsigned long long* offsets,
                                   long long thread, unsigned long long offset) {
    offsets[thread] = offset;
    if (offset == noRoom) return;
    auto* block = reinterpret_cast<unsigned long long*>(memory + offset);
    for (unsigned long long i = 0; i < rounded(sizes[thread]) / 8; i++) block[i] = stampWord(tag, thread, i);
}

// take has groups of so many threads take what they ask for together, or each thread by itself, and keeps it.
static inline __device__ void take(unsigned group, unsigned char* memory, long long bytes, unsigned long long* word,
                                   const unsigned long long* sizes, int n, unsigned tag, unsigned long long* offsets) {
    __shared__ unsigned long long requests[1024];
    long long thread = place();
    unsigned long long capacity = bytes > 0 ? static_cast<unsigned long long>(bytes) : 0;
    unsigned long long size = thread < n ? sizes[thread] : 0;
    unsigned long long offset = group == 1 ? alloc(word, capacity, size) : allocTogether(group, requests, word, capacity, size);
    if (thread < n) keep(memory, sizes, tag, offsets, thread, offset);
}

// bump has each thread take its block by itself. Where more than 1,024 try to, all but one of them in vain each time, those of a
// warp do so together.
extern "C" __global__ void bump(unsigned char* memory, long long bytes, unsigned long long* word, const unsigned long long* sizes, int n,
                                unsigned tag, unsigned long long* offsets) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    take(threads > 1024 ? 32 : 1, memory, bytes, word, sizes, n, tag, offsets);
}

// bumpWarp has the threads of a warp take their blocks together.
extern "C" __global__ void bumpWarp(unsigned char* memory, long long bytes, unsigned long long* word, const unsigned long long* sizes, int n,
                                    unsigned tag, unsigned long long* offsets) {
    take(32, memory, bytes, word, sizes, n, tag, offsets);
}

// bumpBlock has all threads of a block take theirs together.
extern "C" __global__ void bumpBlock(unsigned char* memory, long long bytes, unsigned long long* word, const unsigned long long* sizes,
                                     int n, unsigned tag, unsigned long long* offsets) {
    take(blockDim.x, memory, bytes, word, sizes, n, tag, offsets);
}

// bumpAdd has each thread add what it asks for and look afterwards: quick, and what was added in vain is lost.
extern "C" __global__ void bumpAdd(unsigned char* memory, long long bytes, unsigned long long* word, const unsigned long long* sizes, int n,
                                   unsigned tag, unsigned long long* offsets) {
    long long thread = place();
    if (thread >= n) return;
    unsigned long long capacity = bytes > 0 ? static_cast<unsigned long long>(bytes) : 0, size = sizes[thread], offset = noRoom;
    if (size != 0 && size <= capacity) {
        unsigned long long taken = atomicAdd(word, rounded(size));
        if (fits(taken, capacity, size)) offset = taken;
    }
    keep(memory, sizes, tag, offsets, thread, offset);
}

// bumpCheck adds to *wrong how many words of the blocks that threads have taken are not their stamps. A block that does not
// lie in what is taken of the pool counts as one, and is not looked into.
extern "C" __global__ void bumpCheck(const unsigned char* memory, long long bytes, const unsigned long long* word,
                                     const unsigned long long* sizes, const unsigned long long* offsets, int n, unsigned tag,
                                     unsigned long long* wrong) {
    long long thread = place();
    if (thread >= n || offsets[thread] == noRoom) return;
    unsigned long long taken = *static_cast<const volatile unsigned long long*>(word), size = sizes[thread], offset = offsets[thread], found = 0;
    unsigned long long capacity = bytes > 0 ? static_cast<unsigned long long>(bytes) : 0;
    if (!fits(offset, capacity < taken ? capacity : taken, size)) {
        found = 1;
    } else {
        auto* block = reinterpret_cast<const unsigned long long*>(memory + offset);
        for (unsigned long long i = 0; i < rounded(size) / 8; i++) found += block[i] != stampWord(tag, thread, i);
    }
    if (found != 0) atomicAdd(wrong, found);
}
