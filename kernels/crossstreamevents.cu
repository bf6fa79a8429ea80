#include "block.h"

// fill writes one element per thread: a hash of the element's index (MurmurHash3's last step, over a Weyl sequence), so
// no two elements are alike.
extern "C" __global__ void fill(unsigned* data, int n) {
    long long i = place();
    if (i >= n) return;
    unsigned x = (static_cast<unsigned>(i) + 1) * 0x9E3779B9u;
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    data[i] = x ^ (x >> 16);
}

// checksum adds n elements, each multiplied by its index + 1, to *sum, modulo 2^64: not only an element that is missing
// or repeated shows, but also two that have changed places.
extern "C" __global__ void checksum(const unsigned* data, int n, unsigned long long* sum) {
    __shared__ unsigned long long sums[1024];
    unsigned t = threadIdx.x;
    long long i = place();
    sums[t] = i < n ? static_cast<unsigned long long>(data[i]) * static_cast<unsigned long long>(i + 1) : 0;
    addUp(sums, sum);
}
