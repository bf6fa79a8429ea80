package sim

import (
	"slices"

	"cudalab/native/device"
)

// Limits of a launch, from the CUDA programming guide's table of technical specifications.
const (
	maxGridX  = 1<<31 - 1
	maxGridYZ = 65_535
	maxBlockZ = 64
	warpSize  = 32
	maxGrids  = 128 // that run at a time
)

// spareIssue is the part of what the multiprocessors can run that no kernel takes by itself, so that a small one beside
// one that fills the device does not wait for its end.
const spareIssue = 16

// connections is how many streams the driver keeps ways to the device open for, unless CUDA_DEVICE_MAX_CONNECTIONS says
// otherwise.
const connections = 8

// LaunchKernel starts a kernel. It returns at once, or when the stream's queue has room. Pointers among the arguments
// are not checked, as on a GPU: the kernel finds out.
func (d *Device) LaunchKernel(l *device.Launch) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Launch); c != device.Success {
		return c
	}
	s := d.streams[l.Stream]
	switch {
	case s == nil:
		return device.ErrorInvalidHandle
	case l.Kernel == nil, !d.profile.launchable(l.Grid, l.Block):
		return device.ErrorInvalidValue
	}
	d.connect(s)
	k := &kernel{*l}
	d.enqueue(s, k, d.kernelDemand(&k.launch))
	return device.Success
}

// connect charges a launch in a stream that is none of those that kernels were last launched in.
func (d *Device) connect(s *stream) {
	at := slices.Index(d.connected[:], s)
	if at < 0 {
		d.now += d.profile.LaunchConnect
		at = connections - 1
	}
	copy(d.connected[1:at+1], d.connected[:at])
	d.connected[0] = s
}

func (p *Profile) launchable(grid, block device.Dim) bool {
	return grid.X > 0 && grid.X <= maxGridX && grid.Y <= maxGridYZ && grid.Z <= maxGridYZ &&
		block.X > 0 && block.X <= uint32(p.MaxThreads) && block.Y <= uint32(p.MaxThreads) && block.Z <= maxBlockZ &&
		block.Count() <= uint64(p.MaxThreads)
}

// kernelDemand is what a launch asks for. Its blocks that have work take thread slots, whole warps, and at least the
// share of a multiprocessor that the limit on blocks leaves each; what does not fit at once runs in waves. Blocks
// without work end as they start and cost nothing. A kernel takes the longer of its steps and its bytes, behind the
// time that an empty one takes. Besides slots it takes its share of whatever decides its time, so that kernels side by
// side never get more from the device than it has.
func (d *Device) kernelDemand(l *device.Launch) demand {
	p := d.profile
	work := l.Kernel.Work(l)
	multiprocessors := int64(p.Multiprocessors)
	blocks := max(1, int64((work.Threads+l.Block.Count()-1)/l.Block.Count()))
	warps := int64(l.Block.Count()+warpSize-1) / warpSize
	slots := max(warps*warpSize, p.ThreadsPerMultiprocessor/p.BlocksPerMultiprocessor)
	fitting := multiprocessors * (p.ThreadsPerMultiprocessor / slots)
	resident := min(blocks, fitting)

	crowd := (resident + multiprocessors - 1) / multiprocessors * warps // on the fullest multiprocessor
	waves := blocks / fitting
	crowds := max(waves, 1) * max(crowd, p.StepWarps) // of all waves
	if rest := blocks % fitting; waves > 0 && rest > 0 {
		crowds += max(rest*warps/multiprocessors, p.StepWarps) // the last blocks go wherever there is room, and so evenly
	}
	perStep := scale(uint64(crowds), uint64(p.StepPicos), uint64(p.StepWarps)) // picoseconds
	steps := int64(scale(work.Steps, perStep, 1000))
	bandwidth := min(p.KernelBandwidth, resident*int64(l.Block.Count())*p.ThreadBandwidth)
	bytes := timeFor(work.Bytes, bandwidth)

	longer := max(steps, bytes)
	took := d.vary(p.Operation + longer)
	w := demand{latency: p.LaunchLatency, lead: min(took, p.Operation)}
	w.length = took - w.lead + int64(min(work.Nanos, longest))
	w.needs = [3]need{{&d.grids, 1, 1}, {&d.threads, resident * slots, slots}}
	switch {
	case longer < p.Operation:
	case longer == bytes: // as large a part of a memset's bandwidth
		w.needs[2] = need{&d.bandwidth, int64(scale(uint64(bandwidth), uint64(p.MemoryBandwidth/megabyte),
			uint64(p.KernelBandwidth))), 1}
	default:
		w.needs[2] = need{&d.issue, min(resident, multiprocessors) * min(crowd, p.StepWarps), 1}
	}
	return w
}
