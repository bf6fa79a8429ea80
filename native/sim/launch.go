package sim

import "cudalab/native/device"

// Limits of a launch, from the CUDA programming guide's table of technical specifications.
const (
	maxGridX  = 1<<31 - 1
	maxGridYZ = 65_535
	maxBlockZ = 64
	warpSize  = 32
)

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
	k := &kernel{*l}
	d.enqueue(s, k, d.kernelDemand(&k.launch))
	return device.Success
}

func (p *Profile) launchable(grid, block device.Dim) bool {
	return grid.X > 0 && grid.X <= maxGridX && grid.Y <= maxGridYZ && grid.Z <= maxGridYZ &&
		block.X > 0 && block.X <= uint32(p.MaxThreads) && block.Y <= uint32(p.MaxThreads) && block.Z <= maxBlockZ &&
		block.Count() <= uint64(p.MaxThreads)
}

// kernelDemand is what a launch asks for. Its blocks that have work take thread slots, whole warps, and at least the
// share of a multiprocessor that the limit on blocks leaves each; what does not fit at once runs in waves. Blocks
// without work end as they start and cost nothing. A kernel takes
// the longer of its steps and its bytes, on top of the time that an empty one takes. Besides slots it takes its share of whatever
// decides its time, so that kernels side by side never get more from the device than it has.
func (d *Device) kernelDemand(l *device.Launch) demand {
	p := d.profile
	work := l.Kernel.Work(l)
	multiprocessors := int64(p.Multiprocessors)
	blocks := max(1, int64((work.Threads+l.Block.Count()-1)/l.Block.Count()))
	warps := int64(l.Block.Count()+warpSize-1) / warpSize
	slots := max(warps*warpSize, p.ThreadsPerMultiprocessor/p.BlocksPerMultiprocessor)
	fitting := multiprocessors * (p.ThreadsPerMultiprocessor / slots)
	resident := min(blocks, fitting)
	waves := (blocks + fitting - 1) / fitting

	crowd := (resident + multiprocessors - 1) / multiprocessors * warps // on the fullest multiprocessor
	perStep := p.StepPicos * max(crowd, p.StepWarps) / p.StepWarps
	steps := int64(scale(scale(work.Steps, uint64(waves), 1), uint64(perStep), 1000))
	bandwidth := min(p.KernelBandwidth, resident*int64(l.Block.Count())*p.ThreadBandwidth)
	bytes := timeFor(work.Bytes, bandwidth)

	longer := max(steps, bytes)
	w := demand{latency: p.LaunchLatency, length: d.vary(p.Operation+longer) + int64(min(work.Nanos, longest))}
	w.needs[0] = need{&d.threads, resident * slots}
	switch {
	case longer < p.Operation:
	case longer == bytes:
		w.needs[1] = need{&d.bandwidth, int64(scale(uint64(bandwidth), uint64(d.bandwidth.capacity), uint64(p.KernelBandwidth)))}
	default:
		w.needs[1] = need{&d.issue, min(resident, multiprocessors) * min(crowd, p.StepWarps)}
	}
	return w
}
