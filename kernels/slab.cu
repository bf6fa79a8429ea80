#include "device.h"

// pattern is byte i of a block with the given tag: tag and place, mixed well, so that another block's bytes, or this
// block's at another place, agree in one of 256 only.
static inline __device__ unsigned char pattern(unsigned tag, long long i) {
    unsigned x = tag * 0x9E3779B1u + static_cast<unsigned>(i);
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    return static_cast<unsigned char>(x >> 24);
}

// stamp writes the pattern of a tag over every byte of a block. Each thread takes every gridDim.x * blockDim.x-th byte, so
// any grid covers any number of bytes.
extern "C" __global__ void stamp(unsigned char* block, long long bytes, unsigned tag) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes; i += threads)
        block[i] = pattern(tag, i);
}

// verify adds to *mismatches how many bytes of a block differ from the pattern of a tag.
extern "C" __global__ void verify(const unsigned char* block, long long bytes, unsigned tag, unsigned long long* mismatches) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    unsigned long long wrong = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes; i += threads)
        wrong += block[i] != pattern(tag, i);
    if (wrong != 0) atomicAdd(mismatches, wrong);
}
