#include "device.h"

// One row of a table of blocks.
struct Block {
    unsigned long long address;
    long long bytes;
    unsigned long long tag;
};

// A block's words all differ, and those of blocks with tags below 2^32 differ from each other at every place.
static inline __device__ unsigned long long word(unsigned long long tag, long long i) {
    return (tag << 32) + static_cast<unsigned long long>(i);
}

// Whether a block can be touched: it lies inside the bytes from base on, and address and size are multiples of 16. Any
// other may lie where there is no memory.
static inline __device__ bool usable(const Block& block, unsigned long long base, long long bytes) {
    unsigned long long offset = block.address - base, room = static_cast<unsigned long long>(bytes);
    unsigned long long size = static_cast<unsigned long long>(block.bytes);
    return block.address >= base && offset <= room && size <= room - offset && (block.address | size) % 16 == 0;
}

// stampBlocks fills the blocks of a table: word i of 8 bytes becomes tag * 2^32 + i. Blocks that are not usable are left
// alone.
//
// Each block of threads takes every gridDim.x-th row, so any grid covers any table.
extern "C" __global__ void stampBlocks(const Block* table, int count, unsigned long long base, long long bytes) {
    for (long long row = blockIdx.x; row < count; row += gridDim.x) {
        Block block = table[row];
        if (!usable(block, base, bytes)) continue;
        unsigned long long* words = reinterpret_cast<unsigned long long*>(block.address);
        for (long long i = threadIdx.x; i < block.bytes / 8; i += blockDim.x) words[i] = word(block.tag, i);
    }
}

// verifyBlocks adds to *wrong how many words of the table's blocks are not what stampBlocks writes there. Of a block that
// is not usable, all of them count.
extern "C" __global__ void verifyBlocks(const Block* table, int count, unsigned long long base, long long bytes,
                                        unsigned long long* wrong) {
    unsigned long long found = 0;
    for (long long row = blockIdx.x; row < count; row += gridDim.x) {
        Block block = table[row];
        if (!usable(block, base, bytes)) {
            if (threadIdx.x == 0 && block.bytes > 0) found += block.bytes / 8;
            continue;
        }
        const unsigned long long* words = reinterpret_cast<const unsigned long long*>(block.address);
        for (long long i = threadIdx.x; i < block.bytes / 8; i += blockDim.x)
            if (words[i] != word(block.tag, i)) found++;
    }
    if (found != 0) atomicAdd(wrong, found);
}
