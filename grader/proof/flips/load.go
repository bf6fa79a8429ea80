package flips

import (
	"math/rand/v2"
	"runtime"
	"time"

	"cudalab/kernels"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/session"
)

// Load is other people's work on the machine, which knows nothing of cudalab's locks: on every core turns of arithmetic
// and of memory traffic, and with kind "gpu" long kernels, storms of launches, kernels that fill the GPU, copies and
// allocations as well. What is going on changes every few milliseconds to tenths of a second, since work that stays the
// same slows all contenders alike. It calls ready when it is under way and ends when stop is closed, or with the first
// error of CUDA's. It makes a session its own, so it has to be in a process of its own.
func Load(kind string, ready func(), stop <-chan struct{}) error {
	var gpu *gpuLoad
	if kind == "gpu" {
		var err error
		if gpu, err = newGPULoad(); err != nil {
			return err
		}
	}
	for range runtime.NumCPU() {
		go burn(stop)
	}
	ready()
	if gpu == nil {
		<-stop
		return nil
	}
	return gpu.run(stop)
}

// stopped reports whether stop is closed.
func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// drawn is a duration between the shortest and the longest phase of the load.
func drawn() time.Duration { return 5*time.Millisecond + rand.N(200*time.Millisecond) }

// trafficBytes is more than the share of a processor's cache that one core has.
const trafficBytes = 64 << 20

// burn keeps one core busy.
func burn(stop <-chan struct{}) {
	from, to := make([]byte, trafficBytes), make([]byte, trafficBytes)
	for x := uint64(1); !stopped(stop); {
		end := time.Now().Add(drawn())
		switch rand.IntN(8) {
		case 0:
			time.Sleep(time.Until(end))
		case 1, 2, 3:
			for time.Now().Before(end) {
				copy(to, from)
			}
		default:
			for time.Now().Before(end) {
				for range 1 << 12 {
					x ^= x << 13
					x ^= x >> 7
					x ^= x << 17
				}
			}
			from[0] = byte(x) // or the compiler would see that nobody needs it
		}
	}
}

// Sizes of the load on a GPU.
const (
	loadBytes  = 1 << 30   // that a kernel fills
	copyBytes  = 32 << 20  // that are copied at a time
	loadGrid   = 2048      // blocks: more than any GPU runs at once
	longKernel = 3_000_000 // nanoseconds
)

// gpuLoad is work on a GPU.
type gpuLoad struct {
	stream cuda.Stream
	memory cuda.DevicePtr
	host   cuda.HostBuffer
}

func newGPULoad() (g *gpuLoad, err error) {
	d, err := session.OpenDevice("gpu")
	if err != nil {
		return nil, err
	}
	session.New(d).Use()
	g = &gpuLoad{}
	if g.stream, err = cuda.StreamCreateWithFlags(cuda.StreamNonBlocking); err != nil {
		return nil, err
	}
	if g.memory, err = cuda.Malloc(loadBytes); err != nil {
		return nil, err
	}
	if g.host, err = cuda.MallocHost(copyBytes); err != nil {
		return nil, err
	}
	return g, nil
}

// run works until stop is closed. The driver gives everything back at the end of the process.
func (g *gpuLoad) run(stop <-chan struct{}) error {
	kinds := []func() error{g.long, g.launches, g.fill, g.copies, g.allocations, nothing}
	for !stopped(stop) {
		work := kinds[rand.IntN(len(kinds))]
		for end := time.Now().Add(drawn()); time.Now().Before(end); {
			if err := work(); err != nil {
				return err
			}
			if err := cuda.StreamSynchronize(g.stream); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gpuLoad) long() error { return probe.Delay(g.stream, longKernel) }

func (g *gpuLoad) launches() error {
	for range 200 {
		if err := kernels.Touch(1, 32, g.stream, g.memory, 128, 0); err != nil {
			return err
		}
	}
	return nil
}

func (g *gpuLoad) fill() error {
	return kernels.Touch(loadGrid, 256, g.stream, g.memory, loadBytes, rand.Uint32())
}

func (g *gpuLoad) copies() error {
	if err := cuda.MemcpyHtoDAsync(g.memory, g.host, copyBytes, g.stream); err != nil {
		return err
	}
	return cuda.MemcpyDtoHAsync(g.host, g.memory+copyBytes, copyBytes, g.stream)
}

func (g *gpuLoad) allocations() error {
	p, err := cuda.Malloc(copyBytes)
	if err != nil {
		return err
	}
	return cuda.Free(p)
}

func nothing() error {
	time.Sleep(time.Millisecond)
	return nil
}
