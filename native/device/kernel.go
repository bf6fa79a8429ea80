package device

// Dim is a grid's or a block's extent. A zero Y or Z counts as 1; a zero X is an invalid launch.
type Dim struct{ X, Y, Z uint32 }

// Count is the number of blocks or threads in d.
func (d Dim) Count() uint64 {
	return uint64(d.X) * uint64(max(d.Y, 1)) * uint64(max(d.Z, 1))
}

// MaxArgs is the largest number of parameters a kernel may have.
const MaxArgs = 8

// Launch is one kernel launch. Each argument occupies the low bytes of its slot, as the kernel's parameter is wide:
// a pointer or an int64 all eight, an int32 or the bits of a float32 the lower four.
type Launch struct {
	Kernel      *Kernel
	Grid, Block Dim
	Stream      Stream
	Args        [MaxArgs]uint64
}

// Threads is the number of threads that the launch starts.
func (l *Launch) Threads() uint64 { return l.Grid.Count() * l.Block.Count() }

// Row is how many places the launch's threads have along x, and Layers how many threads have each place, which differ
// in y or z.
func (l *Launch) Row() uint64 { return uint64(l.Grid.X) * uint64(l.Block.X) }

// Layers is 1 where grid and block have one dimension.
func (l *Launch) Layers() uint64 {
	d := func(n uint32) uint64 { return uint64(max(n, 1)) }
	return d(l.Grid.Y) * d(l.Grid.Z) * d(l.Block.Y) * d(l.Block.Z)
}

// AccessKind says what is done to a range of bytes.
type AccessKind uint8

// Read and Write conflict with each other and Write with Write, where nothing orders them. Atomic reads and writes, and
// does not conflict with another Atomic.
const (
	Read AccessKind = iota + 1
	Write
	Atomic
)

// Access is a range of device memory that a kernel touches.
type Access struct {
	Ptr  Ptr
	Size uint64
	Kind AccessKind
}

// Memory is device memory as a kernel sees it on the simulator.
type Memory interface {
	// View returns the bytes at p: at most n, and as many of those as lie together in the simulator's own memory,
	// always a multiple of 16 when p and n are. It returns nil where there is no memory; the simulator then answers
	// as the GPU does, with an illegal address.
	View(p Ptr, n uint64) []byte
	// Fill has write write the n bytes at p, in pieces as View gives them: it is given the index of a piece's first byte
	// and the piece, and writes all of it, by the index alone. The simulator may put that off until somebody looks at
	// them, so write must not depend on anything that changes. Fill reports false where it came to the end of memory.
	Fill(p Ptr, n uint64, write func(first int64, bytes []byte)) bool
}

// Work is what a launch asks of a device: what the simulator's clock needs to know.
type Work struct {
	Threads uint64 // that have work, the first so many of the grid; the others end at once
	Bytes   uint64 // read and written in device memory, together
	Steps   uint64 // dependent steps of each such thread: rounds of the kernel's inner loop
	Nanos   uint64 // a fixed time on top, for kernels that end by the clock
}

// Spec is a kernel's definition.
type Spec struct {
	Entry    string // the entry point's name in the PTX
	PTX      string
	Params   int                                    // number of parameters
	Exec     func(l *Launch, m Memory)              // its meaning, on the simulator
	Accesses func(l *Launch, buf []Access) []Access // appends to buf what the launch touches
	Work     func(l *Launch) Work
}

// Kernel is a kernel that can be launched on either device. It is made by NewKernel, which exercises cannot reach: what
// a kernel does is the lesson's to say. A nil or zero Kernel, which anybody may come by, is none: it has no name and no
// parameters, touches nothing, and is not launched.
type Kernel struct{ spec Spec }

// Made reports whether k is a kernel that NewKernel has made.
func (k *Kernel) Made() bool { return k != nil && k.spec.Exec != nil }

// NewKernel defines a kernel. It panics on an incomplete Spec: a fault in a lesson, never a student's.
func NewKernel(s Spec) *Kernel {
	if s.Entry == "" || s.PTX == "" || s.Exec == nil || s.Accesses == nil || s.Work == nil || s.Params > MaxArgs {
		panic("device: incomplete kernel " + s.Entry)
	}
	return &Kernel{spec: s}
}

// Entry is the entry point's name.
func (k *Kernel) Entry() string {
	if !k.Made() {
		return ""
	}
	return k.spec.Entry
}

// PTX is the module's text.
func (k *Kernel) PTX() string {
	if !k.Made() {
		return ""
	}
	return k.spec.PTX
}

// Params is the number of parameters.
func (k *Kernel) Params() int {
	if !k.Made() {
		return 0
	}
	return k.spec.Params
}

// Exec does on m what the launch does on a GPU.
func (k *Kernel) Exec(l *Launch, m Memory) {
	if k.Made() {
		k.spec.Exec(l, m)
	}
}

// Accesses appends what the launch reads and writes to buf.
func (k *Kernel) Accesses(l *Launch, buf []Access) []Access {
	if !k.Made() {
		return buf
	}
	return k.spec.Accesses(l, buf)
}

// Work is what the launch costs.
func (k *Kernel) Work(l *Launch) Work {
	if !k.Made() {
		return Work{}
	}
	return k.spec.Work(l)
}
