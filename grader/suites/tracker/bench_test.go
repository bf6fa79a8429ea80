package tracker_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/solutions/buddy"
	"cudalab/solutions/slab"
	"cudalab/solutions/streampool"
	"cudalab/solutions/tracker"
)

// list is what the lesson argues against: a tracker whose live blocks are a list to be searched.
type list struct {
	inner contract.Allocator
	live  []contract.LiveBlock
	bytes int64
}

func (l *list) Alloc(size int64, tag string) (cuda.DevicePtr, error) {
	p, err := l.inner.Alloc(size)
	if err != nil {
		return 0, err
	}
	l.live = append(l.live, contract.LiveBlock{Ptr: p, Size: size, Tag: tag})
	l.bytes += size
	return p, nil
}

func (l *list) Free(p cuda.DevicePtr) error {
	for i, b := range l.live {
		if b.Ptr != p {
			continue
		}
		if err := l.inner.Free(p); err != nil {
			return err
		}
		l.bytes -= b.Size
		l.live = append(l.live[:i], l.live[i+1:]...)
		return nil
	}
	return contract.ErrInvalidFree
}

// inStream is a stream-pool that serves one stream.
type inStream struct {
	*streampool.Pool
	s cuda.Stream
}

func (p inStream) Alloc(size int64) (cuda.DevicePtr, error) { return p.Pool.Alloc(size, p.s) }
func (p inStream) Free(at cuda.DevicePtr) error             { return p.Pool.Free(at, p.s) }

// fromCUDA is an upstream that is CUDA itself.
type fromCUDA struct{}

func (fromCUDA) Malloc(size int64, _ cuda.Stream) (cuda.DevicePtr, error) { return cuda.Malloc(size) }
func (fromCUDA) Free(p cuda.DevicePtr) error                              { return cuda.Free(p) }

// tagged is what is compared.
type tagged interface {
	Alloc(size int64, tag string) (cuda.DevicePtr, error)
	Free(p cuda.DevicePtr) error
}

// bare is an allocator without a tracker.
type bare struct{ contract.Allocator }

func (b bare) Alloc(size int64, _ string) (cuda.DevicePtr, error) { return b.Allocator.Alloc(size) }

// BenchmarkPair reports the host's time for an Alloc and a Free, of three allocators alone, with the solution around
// them, and with a list of blocks; few and many blocks are live.
func BenchmarkPair(b *testing.B) {
	const size, most = 256, 1 << 16
	d := sim.New(sim.Options{})
	defer d.Close()
	session.New(d).Use()
	s, err := slab.New([]int64{size}, most)
	require.NoError(b, err)
	halves, err := buddy.New(size*most, size)
	require.NoError(b, err)
	stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	require.NoError(b, err)
	pool, err := streampool.New(fromCUDA{}, size*most)
	require.NoError(b, err)
	for name, inner := range map[string]contract.Allocator{"slab": s, "buddy": halves, "stream-pool": inStream{pool,
		stream}} {
		wrapped, err := tracker.Wrap(inner, 1<<40, size*most, size*most)
		require.NoError(b, err)
		for way, t := range map[string]tagged{"alone": bare{inner}, "tracker": wrapped,
			"list (baseline)": &list{inner: inner}} {
			for _, live := range []int{100, most / 2} {
				b.Run(name+"/"+way+"/"+strconv.Itoa(live), func(b *testing.B) { pairs(b, t, size, live) })
			}
		}
	}
}

// pairs exchanges one of the live blocks after the other.
func pairs(b *testing.B, t tagged, size int64, live int) {
	tags := []string{"weights", "cache", "scratch", "gradients"}
	held := make([]cuda.DevicePtr, live)
	take := func(i int) {
		p, err := t.Alloc(size, tags[i%len(tags)])
		if err != nil {
			b.Fatal(err)
		}
		held[i] = p
	}
	for i := range held {
		take(i)
	}
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		if err := t.Free(held[at]); err != nil {
			b.Fatal(err)
		}
		take(at)
		at = (at + 7919) % live
	}
	for _, p := range held {
		require.NoError(b, t.Free(p))
	}
}
