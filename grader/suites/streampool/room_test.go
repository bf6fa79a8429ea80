package streampool

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/allocator"
)

// unitwise is a room that keeps for each unit whether it is free, and whose.
type unitwise struct{ free, fresh []bool }

func (p unitwise) longest() (most uint64) {
	length := uint64(0)
	for _, free := range p.free {
		if length++; !free {
			length = 0
		}
		most = max(most, length)
	}
	return most
}

func TestARoomIsAsOneThatKeepsEachUnit(t *testing.T) {
	const units = 64
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		m, p := newRoom(), unitwise{make([]bool, units), make([]bool, units)}
		m.give(0, units, 1, origin{in: 1, fresh: true})
		for i := range p.free {
			p.free[i], p.fresh[i] = true, true
		}
		for range 400 {
			lo := r.Uint64N(units)
			hi := min(units, lo+1+r.Uint64N(6))
			all, none := true, true
			for i := lo; i < hi; i++ {
				all, none = all && p.free[i], none && !p.free[i]
			}
			_, ok := m.take(lo, hi)
			require.Equal(t, all, ok)
			if !all && none {
				m.give(lo, hi, 1, origin{in: allocator.Stream(r.IntN(2))})
			}
			for i := lo; i < hi && (all || none); i++ {
				p.free[i], p.fresh[i] = none, false
			}
			require.Equal(t, p.longest(), m.longest())
			for i := uint64(0); i < units; {
				s := m.at(i)
				if s == nil || s.hi <= i {
					require.False(t, p.free[i])
					i++
					continue
				}
				require.Equal(t, i, s.lo)
				for ; i < s.hi; i++ {
					require.True(t, p.free[i])
					require.True(t, p.fresh[i] || !s.origin.fresh)
				}
				require.True(t, i == units || !p.free[i], "stretches are as long as can be")
			}
		}
	}
}

func BenchmarkRoom(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	m := newRoom()
	m.give(0, 1<<40, 1, origin{})
	at := uint64(0)
	var out [][2]uint64
	for range 100_000 {
		size := 256 * (1 + r.Uint64N(16))
		m.take(at, at+size)
		out = append(out, [2]uint64{at, at + size})
		at += size
	}
	for i := 0; i < len(out); i += 4 {
		m.give(out[i][0], out[i][1], 1, origin{})
	}
	for b.Loop() {
		o := out[1+4*r.IntN(len(out)/4)]
		m.give(o[0], o[1], 1, origin{})
		m.take(o[0], o[1])
	}
}
