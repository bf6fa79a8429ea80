#include "device.h"

// A byte has one of so many values.
constexpr unsigned values = 256;

// census counts what memory holds: it adds to counts[v], for each value v that a byte may have, how many of the bytes have it.
//
// Each thread takes every gridDim.x * blockDim.x-th byte, so any grid covers any number of them. A block of threads counts in shared
// memory of its own first: a value that most bytes have would make all threads of the device queue for one counter.
extern "C" __global__ void census(const unsigned char* memory, long long bytes, unsigned long long* counts) {
    __shared__ unsigned long long found[values];
    for (unsigned v = threadIdx.x; v < values; v += blockDim.x) found[v] = 0;
    __syncthreads();
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes; i += threads)
        atomicAdd(&found[memory[i]], 1);
    __syncthreads();
    for (unsigned v = threadIdx.x; v < values; v += blockDim.x)
        if (found[v] != 0) atomicAdd(&counts[v], found[v]);
}
