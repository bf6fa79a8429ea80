#include "device.h"

// own is what the tenant with a number leaves in the word at an address: the address itself, turned by the number and mixed with it. So
// a word says both whose it is and where it lies.
static inline __device__ unsigned long long own(unsigned long long address, unsigned tenant) {
    unsigned turn = tenant & 63u;
    unsigned long long turned = (address << turn) | (address >> ((64u - turn) & 63u));
    return turned ^ (0xD1B54A32D192ED03ull * (tenant + 1ull));
}

// lease moves a tenant into a block: it leaves its own words there, looks at them again so many turns, and adds to *strangers how many it
// found changed. Each thread takes every gridDim.x * blockDim.x-th word.
extern "C" __global__ void lease(volatile unsigned long long* block, long long words, unsigned tenant, int turns,
                                 unsigned long long* strangers) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned long long begin = reinterpret_cast<unsigned long long>(block);
    for (long long i = first; i < words; i += threads) block[i] = own(begin + 8 * i, tenant);
    unsigned long long changed = 0;
    for (int turn = 0; turn < turns; turn++)
        for (long long i = first; i < words; i += threads) changed += block[i] != own(begin + 8 * i, tenant);
    if (changed != 0) atomicAdd(strangers, changed);
}

// inspect adds to *strangers how many words of a block are not the tenant's own at their address.
extern "C" __global__ void inspect(const unsigned long long* block, long long words, unsigned tenant, unsigned long long* strangers) {
    long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    unsigned long long begin = reinterpret_cast<unsigned long long>(block);
    unsigned long long changed = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += threads)
        changed += block[i] != own(begin + 8 * i, tenant);
    if (changed != 0) atomicAdd(strangers, changed);
}
