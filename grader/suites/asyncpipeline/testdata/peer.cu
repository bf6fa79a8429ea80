// The lesson's timed workload and the classic hundred rounds in CUDA C++, to hold the Go figures against: the same
// kernels, streams, sizes and pool setting. Prints medians in microseconds.
//
//     nvcc -O2 -std=c++17 -arch=native -o peer peer.cu && ./peer
#include "../../../../kernels/asyncpipeline.cu"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

static void ok(cudaError_t e) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "peer: %s\n", cudaGetErrorString(e));
        std::exit(1);
    }
}

static double median(int warm, int rounds, const std::function<void()>& run) {
    std::vector<double> us;
    for (int i = 0; i < warm + rounds; i++) {
        ok(cudaDeviceSynchronize());
        auto start = std::chrono::steady_clock::now();
        run();
        ok(cudaDeviceSynchronize());
        std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        if (i >= warm) us.push_back(took.count());
    }
    std::sort(us.begin(), us.end());
    return us[us.size() / 2];
}

constexpr int streamCount = 4, batches = 32, n = 4096, work = 20000, block = 256, grid = (n + block - 1) / block;

int main() {
    cudaStream_t streams[streamCount];
    for (auto& s : streams) ok(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    unsigned long long* results;
    ok(cudaMalloc(&results, 8 * batches));
    cudaMemPool_t pool;
    ok(cudaDeviceGetDefaultMemPool(&pool, 0));
    auto threshold = [&](uint64_t t) { ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &t)); };

    threshold(UINT64_MAX);
    double solution = median(3, 25, [&] {
        for (int i = 0; i < batches; i++) {
            cudaStream_t s = streams[i % streamCount];
            float* data;
            ok(cudaMemsetAsync(results + i, 0, 8, s));
            ok(cudaMallocAsync(&data, 4 * n, s));
            process<<<grid, block, 0, s>>>(data, n, 2.0f, work);
            reduce<<<grid, block, 0, s>>>(data, n, results + i);
            ok(cudaGetLastError());
            ok(cudaFreeAsync(data, s));
        }
    });
    double baseline = median(3, 25, [&] {
        for (int i = 0; i < batches; i++) {
            cudaStream_t s = streams[0];
            float* data;
            ok(cudaMalloc(&data, 4 * n));
            ok(cudaMemsetAsync(results + i, 0, 8, s));
            process<<<grid, block, 0, s>>>(data, n, 2.0f, work);
            reduce<<<grid, block, 0, s>>>(data, n, results + i);
            ok(cudaGetLastError());
            ok(cudaStreamSynchronize(s));
            ok(cudaFree(data));
        }
    });
    std::printf("pipeline  solution %8.1f  baseline %8.1f  speedup %.2f\n", solution, baseline, baseline / solution);

    const int m = 1 << 20;
    double synchronous = median(3, 25, [&] {
        for (int i = 0; i < 100; i++) {
            float* data;
            ok(cudaMalloc(&data, 4 * m));
            process<<<(m + 255) / 256, 256, 0, streams[0]>>>(data, m, 2.0f, 0);
            ok(cudaFree(data));
        }
    });
    auto asynchronous = [&] {
        for (int i = 0; i < 100; i++) {
            float* data;
            ok(cudaMallocAsync(&data, 4 * m, streams[0]));
            process<<<(m + 255) / 256, 256, 0, streams[0]>>>(data, m, 2.0f, 0);
            ok(cudaFreeAsync(data, streams[0]));
        }
    };
    double kept = median(3, 25, asynchronous);
    threshold(0);
    double released = median(3, 25, asynchronous);
    std::printf("100 rounds  cudaMalloc %8.1f  cudaMallocAsync, threshold 0 %8.1f  max %8.1f\n", synchronous, released, kept);
}
