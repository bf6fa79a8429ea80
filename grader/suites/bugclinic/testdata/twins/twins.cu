// The eight bugs of the clinic once more, in CUDA C++, for tools that read no Go. Each function is wrong as the lesson's
// skeleton is; what it is called with is around it.
//
//     nvcc -O2 -lineinfo -o twins twins.cu
//     ./twins 3 1000                                            how many of 1,000 runs of number 3 answer wrong results
//     compute-sanitizer --tool memcheck ./twins 3 3             what a tool says of it; also racecheck, initcheck, synccheck
//     compute-sanitizer --tool memcheck --track-stream-ordered-races all ./twins 3 3
//
// Number 2 takes a size in bytes, and a fourth argument has a copy engine busy meanwhile: ./twins 2 200 300000 busy. What came
// of it is in twins.md.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                          \
    do {                                                                                     \
        cudaError_t answer = (call);                                                         \
        if (answer != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(answer)); \
            exit(2);                                                                         \
        }                                                                                    \
    } while (0)

__device__ uint32_t scramble(uint32_t x, int work) {
#pragma unroll 1
    for (int i = 0; i < work; i++) x = 1664525u * x + 1013904223u;
    return x;
}

__global__ void fill(uint32_t *data, int n, uint32_t item, int work) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = scramble(2654435761u * item + i, work);
}

__global__ void digest(const uint32_t *data, int n, int work, unsigned long long *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(result, (unsigned long long)scramble(data[i], work));
}

const int N = 20000, WORK = 200, BLOCK = 256, GRID = (N + BLOCK - 1) / BLOCK;

uint64_t sumOf(const std::vector<uint32_t> &data, int work) {
    uint64_t sum = 0;
    for (uint32_t x : data) {
        for (int i = 0; i < work; i++) x = 1664525u * x + 1013904223u;
        sum += x;
    }
    return sum;
}

std::vector<uint32_t> filled(uint32_t item, int work) {
    std::vector<uint32_t> data(N);
    for (int i = 0; i < N; i++) {
        uint32_t x = 2654435761u * item + i;
        for (int k = 0; k < work; k++) x = 1664525u * x + 1013904223u;
        data[i] = x;
    }
    return data;
}

// What every run uses; the streams do not wait for the legacy default stream.
cudaStream_t a, b, c;
uint32_t *blocks[2];
unsigned long long *out;

uint64_t outAt(int i) {
    unsigned long long v;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&v, out + i, sizeof v, cudaMemcpyDeviceToHost));
    return v;
}

cudaEvent_t newEvent() {
    cudaEvent_t e;
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    return e;
}

// 1: one staging buffer for all parts.
void upload(cudaStream_t s, char *dst, char *staging, const std::vector<std::vector<char>> &parts) {
    size_t at = 0;
    for (const auto &part : parts) {
        memcpy(staging, part.data(), part.size());
        CHECK(cudaMemcpyAsync(dst + at, staging, part.size(), cudaMemcpyHostToDevice, s));
        at += part.size();
    }
}

bool runUpload(int run) {
    static char *staging = nullptr, *dst = nullptr;
    const size_t size = 200000, count = 6;
    if (!staging) {
        CHECK(cudaMallocHost(&staging, size * count));
        CHECK(cudaMalloc(&dst, size * count));
    }
    std::vector<std::vector<char>> parts;
    std::vector<char> all, got(size * count);
    for (size_t i = 0; i < count; i++) {
        parts.emplace_back(size, (char)(run * 7 + i + 1));
        all.insert(all.end(), parts.back().begin(), parts.back().end());
    }
    upload(a, dst, staging, parts);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got.data(), dst, got.size(), cudaMemcpyDeviceToHost));
    return got == all;
}

// 2: a copy of pageable memory on the legacy default stream, used in another.
bool runWeights(int run, size_t bytes, bool busy) {
    static uint32_t *dst = nullptr;
    static char *pinned = nullptr, *elsewhere = nullptr;
    const size_t other = 32 << 20;
    if (!dst) {
        CHECK(cudaMalloc(&dst, 1 << 20));
        CHECK(cudaMallocHost(&pinned, other));
        CHECK(cudaMalloc(&elsewhere, other));
    }
    int n = (int)(bytes / 4);
    std::vector<uint32_t> weights(n, (uint32_t)run + 1);
    CHECK(cudaMemset(dst, 0, bytes));
    CHECK(cudaDeviceSynchronize());
    if (busy) CHECK(cudaMemcpyAsync(elsewhere, pinned, other, cudaMemcpyHostToDevice, b));
    CHECK(cudaMemcpy(dst, weights.data(), bytes, cudaMemcpyHostToDevice));
    digest<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, a>>>(dst, n, 0, out);
    CHECK(cudaGetLastError());
    return outAt(0) == (uint64_t)n * (run + 1);
}

// 3: the consumer waits for the producer, and nobody the other way.
void pingPong(int steps) {
    cudaEvent_t full = newEvent();
    for (int i = 0; i < steps; i++) {
        fill<<<GRID, BLOCK, 0, a>>>(blocks[i % 2], N, i, WORK);
        CHECK(cudaEventRecord(full, a));
        CHECK(cudaStreamWaitEvent(b, full, 0));
        digest<<<GRID, BLOCK, 0, b>>>(blocks[i % 2], N, WORK, out + i);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaEventDestroy(full));
}

bool runPingPong(int) {
    const int steps = 9;
    static std::vector<uint64_t> want;
    for (int i = (int)want.size(); i < steps; i++) want.push_back(sumOf(filled(i, WORK), WORK));
    pingPong(steps);
    bool right = true;
    for (int i = 0; i < steps; i++) right &= outAt(i) == want[i];
    return right;
}

// 4: c waits for what a had done before a waited for b.
void merge(uint32_t *block, uint32_t *other) {
    cudaEvent_t ea = newEvent(), eb = newEvent();
    digest<<<GRID, BLOCK, 0, b>>>(block, N, WORK, out);
    CHECK(cudaEventRecord(eb, b));
    CHECK(cudaEventRecord(ea, a));
    CHECK(cudaStreamWaitEvent(a, eb, 0));
    fill<<<GRID, BLOCK, 0, a>>>(other, N, 1, WORK);
    CHECK(cudaStreamWaitEvent(c, ea, 0));
    fill<<<GRID, BLOCK, 0, c>>>(block, N, 2, 0);
    CHECK(cudaGetLastError());
    CHECK(cudaEventDestroy(ea));
    CHECK(cudaEventDestroy(eb));
}

bool runMerge(int) {
    static uint64_t want = sumOf(filled(0, 0), WORK);
    fill<<<GRID, BLOCK, 0, b>>>(blocks[0], N, 0, 0);
    CHECK(cudaDeviceSynchronize());
    merge(blocks[0], blocks[1]);
    return outAt(0) == want;
}

// 5: the new stream is taken for the old one.
cudaStream_t replace(cudaStream_t old, uint32_t *block) {
    digest<<<GRID, BLOCK, 0, old>>>(block, N, WORK, out);
    CHECK(cudaStreamDestroy(old));
    cudaStream_t fresh;
    CHECK(cudaStreamCreateWithFlags(&fresh, cudaStreamNonBlocking));
    fill<<<GRID, BLOCK, 0, fresh>>>(block, N, 1, 0);
    CHECK(cudaGetLastError());
    return fresh;
}

bool runReplace(int) {
    static uint64_t want = sumOf(filled(0, 0), WORK);
    cudaStream_t old;
    CHECK(cudaStreamCreateWithFlags(&old, cudaStreamNonBlocking));
    fill<<<GRID, BLOCK, 0, old>>>(blocks[0], N, 0, 0);
    CHECK(cudaDeviceSynchronize());
    cudaStream_t fresh = replace(old, blocks[0]);
    bool right = outAt(0) == want;
    CHECK(cudaStreamDestroy(fresh));
    return right;
}

// 6: ready in its own stream only.
uint32_t *allocate(cudaStream_t owner) {
    uint32_t *p;
    CHECK(cudaMallocAsync(&p, 4 * N, owner));
    CHECK(cudaMemsetAsync(p, 0, 4 * N, owner));
    return p;
}

bool runAllocate(int run) {
    static uint64_t want = sumOf(std::vector<uint32_t>(N, 0), 1);
    uint32_t *p = allocate(a);
    digest<<<GRID, BLOCK, 0, b>>>(p, N, 1, out);
    fill<<<GRID, BLOCK, 0, b>>>(p, N, run + 1, 0);
    CHECK(cudaFreeAsync(p, b));
    return outAt(0) == want;
}

// 7: a copy within the device on the legacy default stream, which neither waits nor is waited for.
void snapshot(uint32_t *dst, uint32_t *src, uint32_t item, cudaStream_t s) {
    CHECK(cudaMemcpy(dst, src, 4 * N, cudaMemcpyDeviceToDevice));
    fill<<<GRID, BLOCK, 0, s>>>(src, N, item, 0);
    CHECK(cudaGetLastError());
}

bool runSnapshot(int run) {
    std::vector<uint32_t> want = filled(run, WORK), got(N);
    fill<<<GRID, BLOCK, 0, a>>>(blocks[0], N, run, WORK);
    snapshot(blocks[1], blocks[0], run + 1, a);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got.data(), blocks[1], 4 * N, cudaMemcpyDeviceToHost));
    return got == want;
}

// 8: allocated and freed in a, used in b.
void scratch() {
    uint32_t *p;
    CHECK(cudaMallocAsync(&p, 4 * N, a));
    fill<<<GRID, BLOCK, 0, b>>>(p, N, 7, WORK);
    digest<<<GRID, BLOCK, 0, b>>>(p, N, WORK, out);
    CHECK(cudaFreeAsync(p, a));
    CHECK(cudaGetLastError());
}

bool runScratch(int run) {
    static uint64_t want = sumOf(filled(7, WORK), WORK);
    scratch();
    uint32_t *other; // what a does next
    CHECK(cudaMallocAsync(&other, 4 * N, a));
    fill<<<GRID, BLOCK, 0, a>>>(other, N, run + 8, 0);
    CHECK(cudaFreeAsync(other, a));
    return outAt(0) == want;
}

int main(int argc, char **argv) {
    int which = argc > 1 ? atoi(argv[1]) : 0, runs = argc > 2 ? atoi(argv[2]) : 1000;
    size_t bytes = argc > 3 ? atoi(argv[3]) : 65536;
    bool busy = argc > 4;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    for (auto &block : blocks) CHECK(cudaMalloc(&block, 4 * N));
    CHECK(cudaMalloc(&out, 8 * 64));
    int wrong = 0;
    for (int run = 0; run < runs; run++) {
        CHECK(cudaMemset(out, 0, 8 * 64));
        CHECK(cudaDeviceSynchronize());
        bool right = true;
        switch (which) {
        case 1: right = runUpload(run); break;
        case 2: right = runWeights(run, bytes, busy); break;
        case 3: right = runPingPong(run); break;
        case 4: right = runMerge(run); break;
        case 5: right = runReplace(run); break;
        case 6: right = runAllocate(run); break;
        case 7: right = runSnapshot(run); break;
        case 8: right = runScratch(run); break;
        default: fprintf(stderr, "usage: twins 1…8 [runs [bytes [busy]]]\n"); return 2;
        }
        wrong += !right;
    }
    printf("%d: wrong results in %d of %d runs\n", which, wrong, runs);
    return 0;
}
