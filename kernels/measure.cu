#include "block.h"

// gray writes one element per thread: the Gray code of the element's index, so two neighbours differ in a single bit. It
// reads nothing, and is as short as a kernel over n elements can be: what surrounds it is what is timed.
extern "C" __global__ void gray(unsigned* data, int n) {
    long long i = place();
    if (i >= n) return;
    unsigned x = static_cast<unsigned>(i);
    data[i] = x ^ (x >> 1);
}
