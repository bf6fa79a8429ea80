#include "block.h"

// process writes one element per thread: work rounds of a linear congruential generator that starts at the element's
// index, then the square root of its low 24 bits, which a float holds exactly, times multiplier.
//
// The rounds depend on each other, so a launch takes time in proportion to work however few threads it has.
// Unrolled, several rounds would fold into one multiplication: the pragma forbids that, here and in the driver's
// compiler.
extern "C" __global__ void process(float* data, int n, float multiplier, int work) {
    long long i = place();
    if (i >= n) return;
    unsigned x = static_cast<unsigned>(i);
#pragma unroll 1
    for (int round = 0; round < work; round++) x = x * 1664525u + 1013904223u;
    data[i] = sqrtf(static_cast<float>(x & 0xFFFFFF)) * multiplier;
}

// reduce adds the bits of n floats, read as unsigned integers, to *result: a single missing or repeated element shows.
extern "C" __global__ void reduce(const float* data, int n, unsigned long long* result) {
    __shared__ unsigned long long sums[1024];
    unsigned t = threadIdx.x;
    long long i = place();
    sums[t] = i < n ? __float_as_uint(data[i]) : 0;
    addUp(sums, result);
}
