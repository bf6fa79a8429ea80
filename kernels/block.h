// What kernels share whose threads take one element each.
#pragma once

#include "device.h"

// The thread's place in the grid, wide enough for the largest grid of the largest blocks.
static inline __device__ long long place() {
    return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Adds up what the block's threads have put into sums, in shared memory, and adds that to *result once. Integer
// addition gives the same sum in every order.
//
// The upper part of the sums folds onto the lower until one is left; the half is rounded up, so the number of threads
// need not be even.
static inline __device__ void addUp(unsigned long long* sums, unsigned long long* result) {
    unsigned t = threadIdx.x;
    __syncthreads();
    for (unsigned width = blockDim.x; width > 1;) {
        unsigned half = (width + 1) / 2;
        if (t + half < width) sums[t] += sums[t + half];
        __syncthreads();
        width = half;
    }
    if (t == 0) atomicAdd(result, sums[0]);
}
