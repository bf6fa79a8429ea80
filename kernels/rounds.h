// Rounds of arithmetic, for kernels that take as long as they are told.
#pragma once

// Takes a number through so many rounds, each of which needs the one before: they take time, and move no memory.
static inline __device__ unsigned rounds(unsigned x, int work) {
#pragma unroll 1
    for (int k = 0; k < work; k++) x = 1664525u * x + 1013904223u;
    return x;
}
