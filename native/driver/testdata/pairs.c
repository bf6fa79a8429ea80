/* What the benchmarks of native/driver cost from C: ns per round of the same calls, the median of 11 measurements.
 *
 *     gcc -O2 -o pairs pairs.c -ldl && ./pairs
 *
 * Neither the CUDA toolkit nor its headers are needed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void *handle;
typedef unsigned long long deviceptr;

static int (*cuInit)(unsigned);
static int (*cuDevicePrimaryCtxRetain)(handle *, int);
static int (*cuCtxSetCurrent)(handle);
static int (*cuStreamCreate)(handle *, unsigned);
static int (*cuStreamSynchronize)(handle);
static int (*cuStreamWaitEvent)(handle, handle, unsigned);
static int (*cuEventCreate)(handle *, unsigned);
static int (*cuEventRecord)(handle, handle);
static int (*cuMemAllocAsync)(deviceptr *, size_t, handle);
static int (*cuMemFreeAsync)(deviceptr, handle);
static int (*cuModuleLoadData)(handle *, const void *);
static int (*cuModuleGetFunction)(handle *, handle, const char *);
static int (*cuLaunchKernel)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle,
                             void **, void **);

static const char *ptx = ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";

static void check(int code, const char *what) {
    if (code != 0) {
        fprintf(stderr, "pairs: %s answered %d\n", what, code);
        exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static handle s, other, event, untimed, function;

static void alloc_free(void) {
    deviceptr p;
    check(cuMemAllocAsync(&p, 64 << 10, s), "cuMemAllocAsync");
    check(cuMemFreeAsync(p, s), "cuMemFreeAsync");
}

static void record_wait(void) {
    check(cuEventRecord(event, s), "cuEventRecord");
    check(cuStreamWaitEvent(other, event, 0), "cuStreamWaitEvent");
}

static void record_wait_untimed(void) {
    check(cuEventRecord(untimed, s), "cuEventRecord");
    check(cuStreamWaitEvent(other, untimed, 0), "cuStreamWaitEvent");
}

static void launch(void) { check(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL), "cuLaunchKernel"); }

static void measure(const char *name, void (*round)(void)) {
    enum { measurements = 11, rounds = 200000 };
    double ns[measurements];
    for (int i = 0; i < rounds / 10; i++) round();
    for (int m = 0; m < measurements; m++) {
        double start = now();
        for (int i = 0; i < rounds; i++) round();
        ns[m] = (now() - start) / rounds;
        check(cuStreamSynchronize(s), "cuStreamSynchronize");
        check(cuStreamSynchronize(other), "cuStreamSynchronize");
    }
    qsort(ns, measurements, sizeof *ns, ascending);
    printf("%-12s %8.1f ns\n", name, ns[measurements / 2]);
}

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "pairs: %s\n", dlerror());
        return 1;
    }
#define FIND(field, name)                                                                                              \
    if (!(*(void **)&field = dlsym(library, name))) check(500, name)
    FIND(cuInit, "cuInit");
    FIND(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    FIND(cuCtxSetCurrent, "cuCtxSetCurrent");
    FIND(cuStreamCreate, "cuStreamCreate");
    FIND(cuStreamSynchronize, "cuStreamSynchronize");
    FIND(cuStreamWaitEvent, "cuStreamWaitEvent");
    FIND(cuEventCreate, "cuEventCreate");
    FIND(cuEventRecord, "cuEventRecord");
    FIND(cuMemAllocAsync, "cuMemAllocAsync");
    FIND(cuMemFreeAsync, "cuMemFreeAsync");
    FIND(cuModuleLoadData, "cuModuleLoadData");
    FIND(cuModuleGetFunction, "cuModuleGetFunction");
    FIND(cuLaunchKernel, "cuLaunchKernel");

    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    handle context, module;
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuStreamCreate(&s, 1), "cuStreamCreate");
    check(cuStreamCreate(&other, 1), "cuStreamCreate");
    check(cuEventCreate(&event, 0), "cuEventCreate");
    check(cuEventCreate(&untimed, 2), "cuEventCreate"); /* CU_EVENT_DISABLE_TIMING */
    check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&function, module, "nothing"), "cuModuleGetFunction");

    measure("AllocFree", alloc_free);
    measure("RecordWait", record_wait);
    measure("RecordWait, no timing", record_wait_untimed);
    measure("Launch", launch);
    return 0;
}
