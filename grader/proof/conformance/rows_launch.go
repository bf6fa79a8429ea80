package conformance

import (
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// nothing is a kernel that does nothing, whatever it is handed.
var nothing = device.NewKernel(device.Spec{
	Entry: "nothing",
	PTX: `.version 6.0
.target sm_70
.address_size 64

.visible .entry nothing(.param .u64 unused)
{
	ret;
}
`,
	Params:   1,
	Exec:     func(*device.Launch, device.Memory) {},
	Accesses: func(_ *device.Launch, buf []device.Access) []device.Access { return buf },
	Work:     func(*device.Launch) device.Work { return device.Work{} },
})

func launchNothing(grid, block cuda.Dim3, s cuda.Stream) error {
	return cuda.LaunchKernel(nothing, grid, block, s, 0)
}

var launchRows = []row{
	{Name: "launch/extents", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		for _, c := range []struct {
			what        string
			grid, block cuda.Dim3
		}{
			{"one thread", cuda.Dim3{X: 1}, cuda.Dim3{X: 1}},
			{"no block", cuda.Dim3{}, cuda.Dim3{X: 1}},
			{"no thread", cuda.Dim3{X: 1}, cuda.Dim3{}},
			{"1024 threads", cuda.Dim3{X: 1}, cuda.Dim3{X: 1024}},
			{"1025 threads", cuda.Dim3{X: 1}, cuda.Dim3{X: 1025}},
			{"32 x 32 threads", cuda.Dim3{X: 1}, cuda.Dim3{X: 32, Y: 32}},
			{"32 x 33 threads", cuda.Dim3{X: 1}, cuda.Dim3{X: 32, Y: 33}},
			{"1 x 1024 threads", cuda.Dim3{X: 1}, cuda.Dim3{X: 1, Y: 1024}},
			{"1 x 1 x 64 threads", cuda.Dim3{X: 1}, cuda.Dim3{X: 1, Y: 1, Z: 64}},
			{"1 x 1 x 65 threads", cuda.Dim3{X: 1}, cuda.Dim3{X: 1, Y: 1, Z: 65}},
			{"1 x 65535 blocks", cuda.Dim3{X: 1, Y: 65535}, cuda.Dim3{X: 1}},
			{"1 x 65536 blocks", cuda.Dim3{X: 1, Y: 65536}, cuda.Dim3{X: 1}},
			{"1 x 1 x 65535 blocks", cuda.Dim3{X: 1, Y: 1, Z: 65535}, cuda.Dim3{X: 1}},
			{"1 x 1 x 65536 blocks", cuda.Dim3{X: 1, Y: 1, Z: 65536}, cuda.Dim3{X: 1}},
			{"2^20 blocks", cuda.Dim3{X: 1 << 20}, cuda.Dim3{X: 1}},
			{"2^31 blocks", cuda.Dim3{X: 1 << 31}, cuda.Dim3{X: 1}},
		} {
			l.answer(c.what, launchNothing(c.grid, c.block, s))
		}
		l.answer("StreamSynchronize(s)", cuda.StreamSynchronize(s))
	}},
	{Name: "launch/pointers-are-not-checked", Note: "with n = 0 the kernel touches nothing", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		freed := l.malloc(4096)
		l.must(cuda.Free(freed))
		l.answer("Process(null, 0)", kernels.Process(1, 32, s, 0, 0, 1, 0))
		l.answer("Process(12345, 0)", kernels.Process(1, 32, s, garbage, 0, 1, 0))
		l.answer("Process(freed, 0)", kernels.Process(1, 32, s, freed, 0, 1, 0))
		l.answer("StreamSynchronize(s)", cuda.StreamSynchronize(s))
	}},
	{Name: "launch/no-elements", Run: func(l *log) {
		s, p := l.stream(cuda.StreamNonBlocking), l.filled(1, 64)
		l.answer("Process(p, 0)", kernels.Process(1, 32, s, p, 0, 1, 0))
		l.answer("Process(p, -1)", kernels.Process(1, 32, s, p, -1, 1, 0))
		l.bytes("p", p, 64)
	}},
	{Name: "launch/process-and-reduce", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p, result := l.filled(0xff, 4*40), l.filled(0, 8)
		l.answer("Process(p, 33)", kernels.Process(2, 32, s, p, 33, 2, 0))
		l.answer("Reduce(p, 33)", kernels.Reduce(2, 32, s, p, 33, result))
		l.bytes("the sum", result, 8)
		l.bytes("p+132", p+132, 28)
		l.bytes("p+16", p+16, 4)
	}},
	{Name: "launch/grid-too-small", Run: func(l *log) {
		s, p := l.stream(cuda.StreamNonBlocking), l.filled(0xff, 4*64)
		l.answer("Process(grid 1, block 32, n 64)", kernels.Process(1, 32, s, p, 64, 0, 0))
		l.bytes("p", p, 4*64)
	}},
	{Name: "launch/no-kernel", Note: binding, Run: func(l *log) {
		l.answer("LaunchKernel(nil)", cuda.LaunchKernel(nil, cuda.Dim3{X: 1}, cuda.Dim3{X: 1}, cuda.Stream{}))
		l.answer("LaunchKernel without its argument",
			cuda.LaunchKernel(nothing, cuda.Dim3{X: 1}, cuda.Dim3{X: 1}, cuda.Stream{}))
	}},
}
