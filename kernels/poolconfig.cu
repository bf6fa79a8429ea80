#include "device.h"

// touch writes every byte of a block: byte i becomes the low byte of seed + i. The pattern depends on the place, so
// that a byte which another block's touch has written there shows, unless both had the same seed.
//
// Each thread takes every gridDim.x * blockDim.x-th byte, so any grid covers any number of bytes.
extern "C" __global__ void touch(unsigned char* data, long long bytes, unsigned seed) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes; i += threads)
        data[i] = static_cast<unsigned char>(seed + static_cast<unsigned>(i));
}
