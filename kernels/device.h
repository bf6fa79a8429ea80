// The part of CUDA C++ that the kernels use, so that clang compiles them without a CUDA toolkit. nvcc brings all of
// it along, and takes nothing from here.
#pragma once

#ifndef __NVCC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

#include <__clang_cuda_builtin_vars.h> // clang's own: threadIdx, blockIdx, blockDim, gridDim; __syncthreads is built in

// Rounded to nearest, as IEEE 754 asks: sqrt.rn.f32.
static inline __device__ float sqrtf(float x) { return __builtin_sqrtf(x); }

static inline __device__ unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }

static inline __device__ unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
    return __nvvm_atom_add_gen_ll(reinterpret_cast<long long*>(address), static_cast<long long>(value));
}

static inline __device__ unsigned long long atomicCAS(unsigned long long* address, unsigned long long compare, unsigned long long value) {
    return __nvvm_atom_cas_gen_ll(reinterpret_cast<long long*>(address), static_cast<long long>(compare), static_cast<long long>(value));
}

static inline __device__ long long clock64() {
    long long cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    return cycles;
}

#endif
