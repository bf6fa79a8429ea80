// Package lock is mutual exclusion between processes: a file that one of them at a time holds locked. The operating
// system lets go of it when its holder ends, however that happens, so a lock is never left behind.
package lock

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// GPU is TimeGPU of the GPU that this process would use.
func GPU(ctx context.Context) (release func(), err error) { return TimeGPU(ctx, visible()) }

// SharedGPU is ShareGPU of the GPU that this process would use.
func SharedGPU(ctx context.Context) (release func(), err error) { return ShareGPU(ctx, visible()) }

// visible names the GPU that a process uses by itself.
func visible() string {
	gpu, _, _ := strings.Cut(os.Getenv("CUDA_VISIBLE_DEVICES"), ",")
	return gpu
}

// TimeGPU waits until no process of cudalab's on this machine holds a GPU, which is named as in CUDA_VISIBLE_DEVICES, and
// holds it alone: for what is timed. "" is GPU 0.
func TimeGPU(ctx context.Context, gpu string) (release func(), err error) {
	door, err := Acquire(ctx, gpuFile(gpu, "door"))
	if err != nil {
		return nil, err
	}
	defer door()
	return Acquire(ctx, gpuFile(gpu, "room"))
}

// ShareGPU waits until nothing is timed on a GPU and holds it together with others: for what may be disturbed. Who waits
// to time something goes before whoever comes later, or those who share would never let go of it.
func ShareGPU(ctx context.Context, gpu string) (release func(), err error) {
	door, err := Acquire(ctx, gpuFile(gpu, "door"))
	if err != nil {
		return nil, err
	}
	defer door()
	return share(ctx, gpuFile(gpu, "room"))
}

// gpuFile is one of the two files of a GPU's lock: all go in by the door, one at a time, and whoever waits there for the
// room to be empty keeps the others out.
func gpuFile(gpu, part string) string {
	if gpu == "" {
		gpu = "0"
	}
	gpu = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '-'
		}
		return r
	}, gpu)
	return filepath.Join(os.TempDir(), "cudalab-gpu-"+gpu+"-"+part+".lock")
}
