#include "device.h"

// mark is word i of a block that the user with a tag is in.
static inline __device__ unsigned long long mark(unsigned tag, long long i) {
    return ((static_cast<unsigned long long>(tag) << 32) ^ static_cast<unsigned long long>(i)) * 0x9E3779B97F4A7C15ull;
}

// occupy moves into a block: it writes its marks there, looks at them again so many turns, and adds to *intrusions how many it found
// changed, each of which somebody else has written meanwhile. Each thread takes every gridDim.x * blockDim.x-th word.
extern "C" __global__ void occupy(volatile unsigned long long* block, long long words, unsigned tag, int turns,
                                  unsigned long long* intrusions) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (long long i = first; i < words; i += threads) block[i] = mark(tag, i);
    unsigned long long changed = 0;
    for (int turn = 0; turn < turns; turn++)
        for (long long i = first; i < words; i += threads) changed += block[i] != mark(tag, i);
    if (changed != 0) atomicAdd(intrusions, changed);
}

// occupied adds to *intrusions how many words of a block do not have the marks of a tag.
extern "C" __global__ void occupied(const unsigned long long* block, long long words, unsigned tag, unsigned long long* intrusions) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    unsigned long long changed = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += threads)
        changed += block[i] != mark(tag, i);
    if (changed != 0) atomicAdd(intrusions, changed);
}
