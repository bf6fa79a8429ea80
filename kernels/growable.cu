#include "device.h"

// piece is 8 bytes of the element with a number, from byte 8 * k on, mixed well (SplitMix64's last step): elements of different
// numbers are alike nowhere, and nor are two places of one.
static inline __device__ unsigned long long piece(unsigned long long seed, long long number, long long k) {
    unsigned long long x = seed + static_cast<unsigned long long>(number) * 0x9E3779B97F4A7C15ull +
                           static_cast<unsigned long long>(k) * 0xD1B54A32D192ED03ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// writeElements writes the elements from one index up to another, of elem bytes each, with the numbers from first on. Each thread
// takes every gridDim.x * blockDim.x-th piece of 8 bytes, the last of an element being shorter where elem is no multiple of 8, so any
// grid covers any number of elements of any size. Bytes are written one by one, since an element may begin anywhere.
extern "C" __global__ void writeElements(unsigned char* array, long long elem, long long from, long long to, unsigned long long seed,
                                         long long first) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    long long pieces = (elem + 7) / 8;
    if (elem <= 0 || to <= from) return;
    for (long long j = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; j < (to - from) * pieces; j += threads) {
        long long i = j / pieces, k = j % pieces;
        unsigned long long word = piece(seed, first + i, k);
        for (long long b = 8 * k; b < elem && b < 8 * k + 8; b++, word >>= 8)
            array[(from + i) * elem + b] = static_cast<unsigned char>(word);
    }
}

// checkElements adds to *mismatches how many bytes of the elements from one index up to another are not what writeElements writes.
extern "C" __global__ void checkElements(const unsigned char* array, long long elem, long long from, long long to, unsigned long long seed,
                                         long long first, unsigned long long* mismatches) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    long long pieces = (elem + 7) / 8;
    if (elem <= 0 || to <= from) return;
    unsigned long long wrong = 0;
    for (long long j = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; j < (to - from) * pieces; j += threads) {
        long long i = j / pieces, k = j % pieces;
        unsigned long long word = piece(seed, first + i, k);
        for (long long b = 8 * k; b < elem && b < 8 * k + 8; b++, word >>= 8)
            wrong += array[(from + i) * elem + b] != static_cast<unsigned char>(word);
    }
    if (wrong != 0) atomicAdd(mismatches, wrong);
}
