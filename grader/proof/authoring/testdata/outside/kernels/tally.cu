#include "device.h" // cudalab's: clang-19 -I CUDALAB/kernels and the flags of CUDALAB/kernels/build.sh

// tally has each of n threads add value to the number at result.
extern "C" __global__ void tally(unsigned long long* result, int n, unsigned long long value) {
    if (static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) < n)
        atomicAdd(result, value);
}
