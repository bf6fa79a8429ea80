#include "block.h"
#include "rounds.h"

// mix makes another element of each, one per thread, after so many rounds. dst may be src.
extern "C" __global__ void mix(unsigned* dst, const unsigned* src, int n, int work) {
    long long i = place();
    if (i >= n) return;
    dst[i] = rounds(2654435761u * src[i] + 1u, work);
}
