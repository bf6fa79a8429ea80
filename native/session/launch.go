package session

import (
	"slices"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// Launch launches l.Kernel in a stream; l.Stream is set here. A nil kernel is answered ErrorInvalidValue.
func (s *Session) Launch(l *device.Launch, x *Stream) device.Code {
	l.Stream = x.raw()
	if !s.watched.Load() && l.Kernel != nil && x.usable(s) {
		return s.note(s.dev.LaunchKernel(l))
	}
	r := trace.Record{Op: trace.OpLaunch}
	if l.Kernel != nil {
		r.Kernel = l.Kernel.Entry()
	}
	return s.call(r, named{stream: x}, func(r *trace.Record) device.Code {
		if l.Kernel == nil {
			return device.ErrorInvalidValue
		}
		if s.tracing {
			r.Given = &trace.Given{Grid: [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, Block: [3]uint32{l.Block.X, l.Block.Y,
				l.Block.Z},
				Args: slices.Clone(l.Args[:l.Kernel.Params()])}
			r.Value = l.Kernel.Work(l).Nanos
			s.touched = l.Kernel.Accesses(l, s.touched[:0])
			for _, a := range s.touched {
				s.touch(r, a.Ptr, int64(a.Size), trace.AccessKind(a.Kind), argument(l, a.Ptr))
			}
		}
		return s.dev.LaunchKernel(l)
	})
}

// argument is the number of the launch's argument that is the address p, or 0.
func argument(l *device.Launch, p device.Ptr) uint8 {
	for i, a := range l.Args[:l.Kernel.Params()] {
		if a == uint64(p) {
			return uint8(i)
		}
	}
	return 0
}
