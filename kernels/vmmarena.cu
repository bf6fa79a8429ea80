#include "device.h"

// word is word i of an array with the given seed, mixed well (SplitMix64's last step): no two words of an array are alike.
static inline __device__ unsigned long long word(unsigned long long seed, long long i) {
    unsigned long long x = seed + static_cast<unsigned long long>(i) * 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// extend writes the words from one index up to another of an array that grows. Each thread takes every
// gridDim.x * blockDim.x-th word, so any grid covers any number of them.
extern "C" __global__ void extend(unsigned long long* array, long long from, long long to, unsigned long long seed) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = from + static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < to; i += threads)
        array[i] = word(seed, i);
}

// recheck adds to *mismatches how many of the words from one index up to another are not what extend writes there.
extern "C" __global__ void recheck(const unsigned long long* array, long long from, long long to, unsigned long long seed,
                                   unsigned long long* mismatches) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    unsigned long long wrong = 0;
    for (long long i = from + static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < to; i += threads)
        wrong += array[i] != word(seed, i);
    if (wrong != 0) atomicAdd(mismatches, wrong);
}
