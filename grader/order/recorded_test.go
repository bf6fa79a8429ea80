package order

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// recorded makes real calls, on a simulated device, and keeps what CUDA gave it under the identities that a trace
// counts up. What a scenario does wrong may be refused, so answers are looked at only where they have to be right.
type recorded struct {
	t       *testing.T
	streams []cuda.Stream // by identity; 0 is the legacy default stream
	events  []cuda.Event
	pools   []cuda.MemPool
	memory  []cuda.DevicePtr
	pinned  map[trace.ID]cuda.HostBuffer
	gone    map[any]bool // streams, events and pools that are destroyed
	recordedVirtual
}

// record runs a scenario on a device of its own and returns the trace.
func record(t *testing.T, s *scenario) *trace.Trace {
	d := sim.New(sim.Options{})
	on := session.New(d)
	on.Use()
	on.StartTrace()
	p := &recorded{t, make([]cuda.Stream, 1), make([]cuda.Event, 1), make([]cuda.MemPool, 1),
		make([]cuda.DevicePtr, 1), map[trace.ID]cuda.HostBuffer{}, map[any]bool{}, newRecordedVirtual(on)}
	s.run(p)
	if !s.keep {
		p.finish()
	}
	made := on.StopTrace()
	require.NoError(t, on.Sweep())
	require.NoError(t, d.Close())
	return made
}

// finish frees and destroys what is left. What was freed already is refused with an error, and the trace would show
// a double free, so a scenario's own frees are remembered as zero pointers.
func (p *recorded) finish() {
	p.SyncDevice()
	for m := range p.memory {
		if p.memory[m] != 0 {
			p.Free(trace.ID(m))
		}
	}
	for m := range p.pinned {
		p.FreeHost(m)
	}
	p.finishVirtual()
	for x := range p.pools {
		if x > 0 && !p.gone[p.pools[x]] {
			p.DestroyPool(trace.ID(x))
		}
	}
	for e := range p.events {
		if e > 0 && !p.gone[p.events[e]] {
			p.DestroyEvent(trace.ID(e))
		}
	}
	for s := range p.streams {
		if s > 0 && !p.gone[p.streams[s]] {
			p.DestroyStream(trace.ID(s))
		}
	}
}

func keep[T any](t *testing.T, list *[]T) func(T, error) trace.ID {
	return func(v T, err error) trace.ID {
		require.NoError(t, err)
		*list = append(*list, v)
		return trace.ID(len(*list) - 1)
	}
}

func (p *recorded) Stream(flags uint32) trace.ID {
	return keep(p.t, &p.streams)(cuda.StreamCreateWithFlags(flags))
}

func (p *recorded) DestroyStream(s trace.ID) {
	p.refused(cuda.StreamDestroy(p.streams[s]), p.streams[s])
	p.gone[p.streams[s]] = true
}

// refused holds an answer to be an error exactly if one of the things that the call named is destroyed.
func (p *recorded) refused(err error, things ...any) {
	stale := slices.ContainsFunc(things, func(x any) bool { return p.gone[x] })
	require.Equal(p.t, stale, err != nil, "%v", err)
}

func (p *recorded) Event() trace.ID {
	return keep(p.t, &p.events)(cuda.EventCreate())
}

func (p *recorded) DestroyEvent(e trace.ID) {
	p.refused(cuda.EventDestroy(p.events[e]), p.events[e])
	p.gone[p.events[e]] = true
}

func (p *recorded) Pool() trace.ID {
	return keep(p.t, &p.pools)(cuda.MemPoolCreate(cuda.MemPoolProps{}))
}

func (p *recorded) DestroyPool(x trace.ID) {
	p.refused(cuda.MemPoolDestroy(p.pools[x]), p.pools[x])
	p.gone[p.pools[x]] = true
}

func (p *recorded) MallocFromPool(size int64, x, s trace.ID) trace.ID {
	return keep(p.t, &p.memory)(cuda.MallocFromPoolAsync(size, p.pools[x], p.streams[s]))
}

func (p *recorded) Record(e, s trace.ID) {
	require.NoError(p.t, cuda.EventRecord(p.events[e], p.streams[s]))
}
func (p *recorded) Wait(s, e trace.ID) {
	p.refused(cuda.StreamWaitEvent(p.streams[s], p.events[e]), p.streams[s], p.events[e])
}
func (p *recorded) SyncStream(s trace.ID) { require.NoError(p.t, cuda.StreamSynchronize(p.streams[s])) }
func (p *recorded) SyncEvent(e trace.ID)  { require.NoError(p.t, cuda.EventSynchronize(p.events[e])) }
func (p *recorded) SyncDevice()           { require.NoError(p.t, cuda.DeviceSynchronize()) }

func (p *recorded) PollStream(s trace.ID) {
	p.poll(func() error { return cuda.StreamQuery(p.streams[s]) })
}
func (p *recorded) PollEvent(e trace.ID) {
	p.poll(func() error { return cuda.EventQuery(p.events[e]) })
}

func (p *recorded) poll(query func() error) {
	for {
		err := query()
		if err == nil {
			return
		}
		require.True(p.t, errors.Is(err, cuda.ErrorNotReady), err)
	}
}

func (p *recorded) Malloc(size int64) trace.ID {
	return keep(p.t, &p.memory)(cuda.Malloc(size))
}

func (p *recorded) MallocAsync(size int64, s trace.ID) trace.ID {
	return keep(p.t, &p.memory)(cuda.MallocAsync(size, p.streams[s]))
}

func (p *recorded) MallocHost(size int64) trace.ID {
	buffer, err := cuda.MallocHost(size)
	m := keep(p.t, &p.memory)(0, err)
	p.pinned[m] = buffer
	return m
}

// dead marks addresses that were freed: finish leaves them alone, and the scenario can still name them.
const dead = cuda.DevicePtr(1) << 63

func (p *recorded) address(m trace.ID) cuda.DevicePtr { return p.memory[m] &^ dead }

func (p *recorded) Free(m trace.ID) {
	if p.memory[m]&dead == 0 {
		require.NoError(p.t, cuda.Free(p.address(m)))
	}
	p.memory[m] |= dead
}

func (p *recorded) FreeAt(m trace.ID, offset int64) {
	require.ErrorIs(p.t, cuda.Free(p.address(m)+cuda.DevicePtr(offset)), cuda.ErrorInvalidValue)
}

func (p *recorded) FreeAsync(m, s trace.ID) {
	err := cuda.FreeAsync(p.address(m), p.streams[s])
	require.Equal(p.t, p.memory[m]&dead != 0, err != nil, "only a second free is refused")
	p.memory[m] |= dead
}

func (p *recorded) FreeHost(m trace.ID) {
	require.NoError(p.t, cuda.FreeHost(p.pinned[m]))
	delete(p.pinned, m)
}

// touchers are kernels that say what they touch and do nothing.
var touchers = func() map[trace.AccessKind]*device.Kernel {
	all := map[trace.AccessKind]*device.Kernel{}
	for kind, name := range kernelNames {
		all[kind] = device.NewKernel(device.Spec{
			Entry: name, PTX: "none: for the simulator only", Params: 2,
			Exec: func(*device.Launch, device.Memory) {},
			Accesses: func(l *device.Launch, list []device.Access) []device.Access {
				return append(list, device.Access{
					Ptr: device.Ptr(l.Args[0]), Size: l.Args[1], Kind: device.AccessKind(kind),
				})
			},
			Work: func(*device.Launch) device.Work { return device.Work{} },
		})
	}
	return all
}()

func (p *recorded) Launch(kind trace.AccessKind, m trace.ID, offset, size int64, s trace.ID) {
	one := cuda.Dim3{X: 1}
	require.NoError(p.t, cuda.LaunchKernel(touchers[kind], one, one, p.streams[s], uint64(p.address(m))+uint64(offset),
		uint64(size)))
}

func (p *recorded) Memset(m trace.ID, size int64) { _ = cuda.Memset(p.address(m), 0, size) }
func (p *recorded) MemsetAsync(m trace.ID, size int64, s trace.ID) {
	_ = cuda.MemsetAsync(p.address(m), 0, size, p.streams[s])
}
func (p *recorded) CopyIn(m trace.ID, size int64) {
	_ = cuda.MemcpyHtoD(p.address(m), make(cuda.Pageable, size), size)
}
func (p *recorded) CopyOut(m trace.ID, size int64) {
	_ = cuda.MemcpyDtoH(make(cuda.Pageable, size), p.address(m), size)
}
func (p *recorded) CopyInAsync(m, pinned trace.ID, size int64, s trace.ID) {
	require.NoError(p.t, cuda.MemcpyHtoDAsync(p.address(m), p.pinned[pinned], size, p.streams[s]))
}
func (p *recorded) CopyOutAsync(pinned, m trace.ID, size int64, s trace.ID) {
	require.NoError(p.t, cuda.MemcpyDtoHAsync(p.pinned[pinned], p.address(m), size, p.streams[s]))
}
func (p *recorded) CopyOutPageableAsync(m trace.ID, size int64, s trace.ID) {
	require.NoError(p.t, cuda.MemcpyDtoHAsync(make(cuda.Pageable, size), p.address(m), size, p.streams[s]))
}
func (p *recorded) Copy(to, from trace.ID, size int64) {
	require.NoError(p.t, cuda.MemcpyDtoD(p.address(to), p.address(from), size))
}
func (p *recorded) HostRead(pinned trace.ID, size int64) {
	require.NoError(p.t, p.pinned[pinned].Read(0, make([]byte, size)))
}
func (p *recorded) HostWrite(pinned trace.ID, size int64) {
	require.NoError(p.t, p.pinned[pinned].Write(0, make([]byte, size)))
}

func TestScenariosOnTheSimulator(t *testing.T) {
	for _, s := range allScenarios() {
		t.Run(s.name, func(t *testing.T) {
			made := record(t, &s)
			require.ElementsMatch(t, s.faults, summary(made, Check(made)))
		})
	}
}

// Calls that never reached the device because of an injected fault are no fault of the program.
func TestInjectedFaults(t *testing.T) {
	d := sim.New(sim.Options{})
	on := session.New(d)
	on.Use()
	on.StartTrace()
	s, err := cuda.StreamCreate()
	require.NoError(t, err)
	m, err := cuda.MallocAsync(kB, s)
	require.NoError(t, err)
	pinned, err := cuda.MallocHost(kB)
	require.NoError(t, err)
	e, err := cuda.EventCreate()
	require.NoError(t, err)
	pool, err := cuda.MemPoolCreate(cuda.MemPoolProps{})
	require.NoError(t, err)
	v, err := cuda.MemAddressReserve(page, 0, 0, 0)
	require.NoError(t, err)
	handle, err := cuda.MemCreate(page, cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned, Location: device0}, 0)
	require.NoError(t, err)
	require.NoError(t, cuda.MemMap(v, page, 0, handle, 0))
	for _, op := range []trace.Op{trace.OpFreeAsync, trace.OpFreeHost, trace.OpStreamDestroy, trace.OpEventDestroy,
		trace.OpMemPoolDestroy, trace.OpMalloc, trace.OpMemUnmap, trace.OpMemRelease} {
		on.Fail(op, 1, device.ErrorInvalidValue)
	}
	_, err = cuda.Malloc(kB)
	require.Error(t, err)
	require.Error(t, cuda.FreeAsync(m, s))
	require.Error(t, cuda.FreeHost(pinned))
	require.Error(t, cuda.EventDestroy(e))
	require.Error(t, cuda.MemPoolDestroy(pool))
	require.Error(t, cuda.StreamDestroy(s))
	require.Error(t, cuda.MemUnmap(v, page))
	require.Error(t, cuda.MemRelease(handle))
	require.Error(t, cuda.MemAddressFree(v, page), "the mapping is still there")
	require.Empty(t, Check(on.StopTrace()))
	require.NoError(t, on.Sweep())
	require.NoError(t, d.Close())
}

// The lesson's own kernels, in a program as a student writes it, and with one wait left out.
func TestLessonKernels(t *testing.T) {
	for _, wait := range []bool{true, false} {
		made := record(t, &scenario{run: func(p program) {
			a, b := two(p)
			data, sum := p.MallocAsync(4*1000, a), p.MallocAsync(8, a)
			p.MemsetAsync(sum, 8, a)
			on := p.(*recorded)
			require.NoError(t, kernels.Process(4, 256, on.streams[a], on.address(data), 1000, 2, 0))
			if wait {
				after(p, b, a)
			}
			require.NoError(t, kernels.Reduce(4, 256, on.streams[b], on.address(data), 1000, on.address(sum)))
			after(p, a, b)
			p.FreeAsync(data, a)
			p.FreeAsync(sum, a)
		}})
		found := summary(made, Check(made))
		if wait {
			require.Empty(t, found)
			continue
		}
		require.Equal(t, []string{
			"use-before-alloc: the launch of reduce on stream 2 / MallocAsync on stream 1",
			"use-before-alloc: the launch of reduce on stream 2 / MallocAsync on stream 1",
		}, found)
	}
}
