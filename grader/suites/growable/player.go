package growable

import (
	"encoding/binary"
	"errors"
	"slices"

	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// player carries out a script on a vector, and does with the elements what a caller would.
type player struct {
	bench   *suite.Bench
	stage   *suite.Stage
	streams [streamCount]cuda.Stream
	vector  Vector
	state
	code    Make
	base    cuda.DevicePtr
	content contents
	fresh   int64 // how many Appends have come without a source

	source  cuda.DevicePtr              // the elements that the caller has to be copied
	scratch [streamCount]cuda.DevicePtr // by stream, for what shows whether memory may be used
	others  cuda.DevicePtr              // counts bytes that are others than they should be
	ends    [streamCount]cuda.Event
	pending [streamCount]bool // there may be work in the stream which others were not made to wait for
	unsafe  bool              // the elements are not where the vector says: the device keeps off
	wrong   bool              // an answer was
}

// The launches of the caller's kernels.
const (
	grid  = 8
	block = 256
)

// edge is how many bytes at either end the caller writes of elements that have no source, where they are many; of few
// it writes all.
const edge = 16 << 10

// newPlayer makes what the caller of a script's vector has. On a scarce device, and where nothing is
// computed, it has nothing but streams and events.
func newPlayer(bench *suite.Bench, f Make, w script) *player {
	p := &player{bench: bench, stage: bench.NewStage(), state: state{layout: w.Layout}, code: f}
	for i := range legacy {
		p.streams[i] = p.stage.Stream(streamNames[i])
	}
	for i := range p.ends {
		var err error
		p.ends[i], err = cuda.EventCreateWithFlags(cuda.EventDisableTiming)
		bench.Must(err)
	}
	if p.unsafe = p.memory > 0; p.unsafe || p.far {
		return p
	}
	size := p.elem * lentElements(p.elem)
	for i := range p.scratch {
		p.scratch[i] = p.lend(size)
	}
	p.source, p.others = p.lend(size), p.lend(8)
	bench.Must(cuda.DeviceSynchronize()) // what is lent is filled with garbage first
	bench.Must(kernels.WriteElements(grid, block, p.streams[other], p.source, p.elem, 0, reach(w), bench.Seed, 0))
	bench.Must(cuda.MemsetAsync(p.others, 0, 8, p.streams[other]))
	bench.Must(cuda.DeviceSynchronize())
	return p
}

func (p *player) lend(size int64) cuda.DevicePtr {
	p.stage.Lend(size)
	return p.stage.Memory[len(p.stage.Memory)-1]
}

func (p *player) close() {
	p.bench.Must(cuda.DeviceSynchronize())
	for _, e := range p.ends {
		p.bench.Must(cuda.EventDestroy(e))
	}
	p.stage.Close()
}

// carryOut has the vector do what an operation asks of it.
func (p *player) carryOut(o op) error {
	stream := p.streams[o.stream]
	switch o.kind {
	case opens:
		return p.open()
	case appending:
		src := cuda.DevicePtr(0)
		switch o.from {
		case lent:
			src = p.source + cuda.DevicePtr(o.at*p.elem)
		case inside:
			src = p.base + cuda.DevicePtr(o.at*p.elem)
		}
		for range max(o.times, 1) {
			if err := p.vector.Append(stream, src, o.n); err != nil {
				return err
			}
		}
		return nil
	case shrinks:
		return p.shrink(o)
	case beside:
		return p.live(o.n)
	}
	return p.vector.Close()
}

// noteUsers is the number of a Call in which Shrink has changed its caller's slice.
const noteUsers = "users changed"

// shrink has the vector shrink for users that are part of a longer array of the caller's, who then writes to it.
func (p *player) shrink(o op) error {
	var users []cuda.Stream
	for _, u := range o.users {
		users = append(users, p.streams[u])
	}
	array := append(slices.Clone(users), p.streams[other], p.streams[other])
	err := p.vector.Shrink(o.n, array[:len(users)]...)
	if !slices.Equal(array, append(users, p.streams[other], p.streams[other])) {
		p.bench.Value(noteUsers, uint64(p.bench.Calls()-1))
	}
	for i := range array {
		array[i] = p.streams[other]
	}
	return err
}

// errNothing is a New's that answers neither a vector nor an error.
var errNothing = errors.New("neither a vector nor an error")

// open has the vector made.
func (p *player) open() (err error) {
	p.vector, err = p.code(p.device, p.elem, p.max)
	switch {
	case err == nil && p.vector == nil:
		return errNothing
	case err == nil:
		p.base = p.vector.Ptr()
	}
	return err
}

// live is the life of another vector for elements like the script's, of which it has n.
func (p *player) live(n int64) error {
	v, err := p.code(p.device, p.elem, max(n, 2))
	switch {
	case err == nil && v == nil:
		return errNothing
	case err != nil:
		return err
	case n > 0:
		err = v.Append(p.streams[other], 0, n)
	}
	p.bench.Session.Aside(func() { p.bench.Must(cuda.StreamSynchronize(p.streams[other])) })
	return errors.Join(err, v.Close())
}

// before prepares an operation: elements that are to be copied have been written, and who closes has finished, as a
// rule also who shrinks.
func (p *player) before(o op) (wrong int64) {
	switch {
	case o.kind == appending && o.from == inside:
		p.join(o.stream)
	case o.kind == closes, o.kind == shrinks && !p.inUse:
		return p.look()
	}
	return 0
}

// after does what the caller goes on to do when an operation has succeeded.
func (p *player) after(o op) {
	switch o.kind {
	case appending:
		at, n := p.length-o.elements(), o.elements()
		p.pending[o.stream] = true
		switch o.from {
		case lent:
			p.content = append(p.content, run{at, n, o.at})
		case inside:
			p.content = append(p.content, p.content.slice(o.at, n, at)...)
		default:
			p.write(o.stream, at, n)
		}
	case shrinks:
		p.content = p.content.cut(o.n)
	case closes:
		p.unsafe = true
	}
}

// write writes elements that have no source: the first and the last, where they are many.
func (p *player) write(stream int, at, n int64) {
	if p.unsafe {
		return
	}
	s, elem, size := p.streams[stream], p.elem, n*p.elem
	if p.far {
		p.unsafe = cuda.MemsetAsync(p.at(at), 0, size, s) != nil
		return
	}
	if !p.light && cuda.MemsetAsync(p.at(at), 0, size, s) != nil { // where memory may not be used a kernel would end all
		p.unsafe = true
		return
	}
	p.fresh++
	first := p.fresh << 40
	ends := []run{{at, n, first}}
	if few := max(edge/elem, 1); n > 2*few {
		ends = []run{{at, few, first}, {at + n - few, few, first + n - few}}
	}
	for _, r := range ends {
		if p.light && cuda.MemsetAsync(p.at(r.at), 0, r.n*elem, s) != nil {
			p.unsafe = true
			return
		}
		p.bench.Must(kernels.WriteElements(grid, block, s, p.base, elem, r.at, r.at+r.n, p.bench.Seed, r.first))
		p.content = append(p.content, r)
	}
}

// at is where an element is.
func (p *player) at(i int64) cuda.DevicePtr { return p.base + cuda.DevicePtr(i*p.elem) }

// join has a stream wait for what is in the others.
func (p *player) join(stream int) {
	for i, pending := range p.pending {
		if !pending || i == stream {
			continue
		}
		p.bench.Must(cuda.EventRecord(p.ends[i], p.streams[i]))
		p.bench.Must(cuda.StreamWaitEvent(p.streams[stream], p.ends[i]))
	}
}

// read looks at all elements in a stream, behind what has written them.
func (p *player) read(stream int) {
	if p.unsafe || p.far {
		return
	}
	p.join(stream)
	elem, s := p.elem, p.streams[stream]
	for _, r := range p.content {
		for at := r.at; at < r.at+r.n && !p.unsafe; at += lentElements(elem) { // as much as there is scratch for
			n := min(lentElements(elem), r.at+r.n-at)
			if p.unsafe = cuda.MemcpyDtoDAsync(p.scratch[stream], p.at(at), n*elem, s) != nil; p.unsafe {
				return
			}
		}
		p.bench.Must(kernels.CheckElements(grid, block, s, p.base, elem, r.at, r.at+r.n, p.bench.Seed, r.first, p.others))
	}
	p.pending[stream] = true
}

// look waits for the device and answers how many bytes were others than they should be since the last look.
func (p *player) look() (wrong int64) {
	p.bench.Must(cuda.DeviceSynchronize())
	if p.memory > 0 || p.far {
		return 0
	}
	p.read(reader)
	p.bench.Must(cuda.DeviceSynchronize())
	clear(p.pending[:])
	n := make(cuda.Pageable, 8)
	p.bench.Must(cuda.MemcpyDtoH(n, p.others, 8))
	p.bench.Must(cuda.Memset(p.others, 0, 8))
	p.bench.Must(cuda.DeviceSynchronize())
	return int64(binary.LittleEndian.Uint64(n))
}

// serve does what the caller does by itself.
func (p *player) serve(o op) (wrong int64) {
	switch o.kind {
	case use:
		p.read(o.stream)
	case busy:
		if !p.unsafe {
			elem := p.elem
			p.bench.Must(kernels.WriteElements(grid, block, p.streams[other], p.scratch[other], elem, 0, 1, p.bench.Seed, 0))
		}
	case looking:
		return p.look()
	}
	return 0
}
