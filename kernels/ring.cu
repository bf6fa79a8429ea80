#include "block.h"

// rounds takes a number through so many rounds, each of which needs the one before: they take time, and move no memory.
static inline __device__ unsigned rounds(unsigned x, int work) {
#pragma unroll 1
    for (int k = 0; k < work; k++) x = 1664525u * x + 1013904223u;
    return x;
}

// fillItem writes one element per thread, which depends on the item's number and the element's index.
extern "C" __global__ void fillItem(unsigned* data, int n, unsigned item, int work) {
    long long i = place();
    if (i >= n) return;
    data[i] = rounds(2654435761u * item + static_cast<unsigned>(i), work);
}

// digest adds n elements, each after so many rounds, to *result, modulo 2^64.
extern "C" __global__ void digest(const unsigned* data, int n, int work, unsigned long long* result) {
    __shared__ unsigned long long sums[1024];
    long long i = place();
    sums[threadIdx.x] = i < n ? rounds(data[i], work) : 0;
    addUp(sums, result);
}
