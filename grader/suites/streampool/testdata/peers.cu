// What an allocation and a free cost the host in the pools that the lesson's chapter names beside the student's. It is
// compiled where the CUDA toolkit is, whose headers have CUB: nvcc -O2 -std=c++17 peers.cu -o peers && ./peers
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <cub/util_allocator.cuh>

static void must(cudaError_t e) {
    if (e != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(e));
        exit(1);
    }
}

static size_t size_of(int i) { return 256 * size_t(1 + (long long)i * 7919 % 4093); }

// The median of nine times for a pair, each over 20,000, in ns; the device is synchronised every 512, off the clock.
static void measure(const char *name, const std::function<void(int)> &pair) {
    std::vector<double> figures;
    for (int round = 0; round < 10; round++) {
        double ns = 0;
        for (int i = 0; i < 20000;) {
            must(cudaDeviceSynchronize());
            auto begin = std::chrono::steady_clock::now();
            for (int k = 0; k < 512; k++, i++) pair(i);
            ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
        }
        if (round > 0) figures.push_back(ns / 20480); // 40 times 512; the first round warms up
    }
    std::sort(figures.begin(), figures.end());
    printf("%-48s %8.0f ns\n", name, figures[figures.size() / 2]);
}

int main() {
    cudaStream_t streams[2];
    for (auto &s : streams) must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    cudaEvent_t event;
    must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

    cub::CachingDeviceAllocator caching(2, 8, 13, size_t(1) << 30);
    auto cub_pair = [&](int i, cudaStream_t s) {
        void *p;
        must(caching.DeviceAllocate(&p, size_of(i), s));
        must(caching.DeviceFree(p));
    };
    auto async_pair = [&](int i, cudaStream_t s) {
        void *p;
        must(cudaMallocAsync(&p, size_of(i), s));
        must(cudaFreeAsync(p, s));
    };
    measure("cudaEventRecord", [&](int) { must(cudaEventRecord(event, streams[0])); });
    measure("cub::CachingDeviceAllocator, one stream", [&](int i) { cub_pair(i, streams[0]); });
    measure("cub::CachingDeviceAllocator, two in turns", [&](int i) { cub_pair(i, streams[i % 2]); });
    measure("cudaMallocAsync, cudaFreeAsync, as it is", [&](int i) { async_pair(i, streams[0]); });
    cudaMemPool_t pool;
    must(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long keep = ~0ull;
    must(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    measure("cudaMallocAsync, cudaFreeAsync, threshold, one", [&](int i) { async_pair(i, streams[0]); });
    measure("cudaMallocAsync, cudaFreeAsync, threshold, two", [&](int i) { async_pair(i, streams[i % 2]); });
    return 0;
}
