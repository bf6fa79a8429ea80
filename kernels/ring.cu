#include "block.h"
#include "rounds.h"

// fillItem writes one element per thread, which depends on the item's number and the element's index.
extern "C" __global__ void fillItem(unsigned* data, int n, unsigned item, int work) {
    long long i = place();
    if (i >= n) return;
    data[i] = rounds(2654435761u * item + static_cast<unsigned>(i), work);
}

// digest adds n elements, each after so many rounds, to *result, modulo 2^64.
extern "C" __global__ void digest(const unsigned* data, int n, int work, unsigned long long* result) {
    __shared__ unsigned long long sums[1024];
    long long i = place();
    sums[threadIdx.x] = i < n ? rounds(data[i], work) : 0;
    addUp(sums, result);
}
