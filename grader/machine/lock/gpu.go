// Package lock is mutual exclusion between processes: a file that one of them at a time holds locked. The operating
// system lets go of it when its holder ends, however that happens, so a lock is never left behind.
package lock

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Turns are how the processes of cudalab's on this machine take turns on a GPU. Each waits until it may go on; who
// holds one releases it before it asks for another. The zero Turns has nobody to wait for.
type Turns struct {
	// Share is held together with others, while nothing is timed on this GPU: for what may be disturbed.
	Share func(context.Context) (release func(), err error)
	// Time is held by one on this GPU: for what is timed.
	Time func(context.Context) (release func(), err error)
	// Alone is held by one on all GPUs of the machine: for what was too slow, before that is believed. Processes on one
	// GPU wait in the driver for those on another, where they allocate or map memory: on a host of two H100, a call that
	// makes a pool and destroys it took 2.7 ms, and up to 19 ms while three others did so on the other GPU.
	Alone func(context.Context) (release func(), err error)
}

// On are the turns on a GPU, which is named as in CUDA_VISIBLE_DEVICES; "" is GPU 0.
func On(gpu string) Turns {
	if gpu == "" {
		gpu = "0"
	}
	// those on other GPUs, which all are let in together
	among := func(take taking) func(context.Context) (func(), error) {
		return func(ctx context.Context) (func(), error) {
			leave, err := enter(ctx, all, share)
			if err != nil {
				return nil, err
			}
			release, err := enter(ctx, gpu, take)
			if err != nil {
				leave()
				return nil, err
			}
			return func() { release(); leave() }, nil
		}
	}
	return Turns{Share: among(share), Time: among(Acquire), Alone: func(ctx context.Context) (func(),
		error) {
		return enter(ctx, all, Acquire)
	}}
}

// Here are the turns on the GPU that this process uses by itself.
func Here() Turns {
	gpu, _, _ := strings.Cut(os.Getenv("CUDA_VISIBLE_DEVICES"), ",")
	return On(gpu)
}

// all stands for all GPUs of the machine: no GPU is called so.
const all = "all"

// taking is how a lock is taken: Acquire or share.
type taking func(ctx context.Context, path string) (release func(), err error)

// enter takes the lock of a GPU. It is made of two files: all go in by the door, one at a time, and whoever waits there
// for the room to be empty keeps the others out, or those who share would never let go of it.
func enter(ctx context.Context, gpu string, take taking) (release func(), err error) {
	gpu = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '-'
		}
		return r
	}, gpu)
	file := func(part string) string { return filepath.Join(os.TempDir(), "cudalab-gpu-"+gpu+"-"+part+".lock") }
	door, err := Acquire(ctx, file("door"))
	if err != nil {
		return nil, err
	}
	defer door()
	return take(ctx, file("room"))
}
