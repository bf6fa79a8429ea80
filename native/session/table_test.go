package session

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/trace"
)

func TestTableFindsTheAllocationAroundAnAddress(t *testing.T) {
	m := newTable()
	a := &allocation{id: 1, base: 0x1000, size: 100}
	m.add(a)

	for _, c := range []struct {
		p     device.Ptr
		found bool
	}{{0xfff, false}, {0x1000, true}, {0x1063, true}, {0x1064, true}, {0x10ff, true}, {0x1100, false}, {0, false},
		{^device.Ptr(0), false}} {
		got, freed, _ := m.find(c.p)
		require.Equal(t, c.found, got == a, "%#x", c.p)
		require.False(t, freed)
	}

	m.remove(a)
	got, freed, _ := m.find(0x1010)
	require.Same(t, a, got)
	require.True(t, freed)

	m.restore(a)
	_, freed, _ = m.find(0x1010)
	require.False(t, freed)
}

func TestTableGivesAReusedAddressToTheNewAllocation(t *testing.T) {
	m := newTable()
	old := &allocation{id: 1, base: 0x1000, size: 0x1000}
	m.add(old)
	m.remove(old)
	young := &allocation{id: 2, base: 0x1400, size: 0x400}
	m.add(young)

	for p, want := range map[device.Ptr]*allocation{0x1000: old, 0x13ff: old, 0x1400: young, 0x17ff: young, 0x1800: old} {
		got, freed, _ := m.find(p)
		require.Same(t, want, got, "%#x", p)
		require.Equal(t, want == old, freed, "%#x", p)
	}

	m.remove(young)
	for p, want := range map[device.Ptr]*allocation{0x13ff: old, 0x1400: young, 0x17ff: young, 0x1800: old} {
		got, freed, _ := m.find(p)
		require.Same(t, want, got, "%#x", p)
		require.True(t, freed)
	}
}

// The model has one slot per 256 bytes of address space.
func TestTableAgreesWithAPlainModel(t *testing.T) {
	const slots = 20000
	r := rand.New(rand.NewPCG(1, 2))
	m := newTable()
	var live, freed [slots]*allocation
	var list []*allocation
	for step := range 20000 {
		if r.IntN(5) < 3 || len(list) == 0 {
			at, n := r.IntN(slots-8), 1+r.IntN(8)
			vacant := true
			for i := at; i < at+n; i++ {
				vacant = vacant && live[i] == nil
			}
			if vacant {
				a := &allocation{id: trace.ID(step + 1), base: device.Ptr(at * alignment),
					size: int64(n*alignment - r.IntN(alignment))}
				m.add(a)
				list = append(list, a)
				for i := at; i < at+n; i++ {
					live[i] = a
				}
			}
		} else {
			i := r.IntN(len(list))
			a := list[i]
			list[i] = list[len(list)-1]
			list = list[:len(list)-1]
			m.remove(a)
			for i := range live {
				if live[i] == a {
					live[i], freed[i] = nil, a
				}
			}
		}
		slot := r.IntN(slots)
		got, dead, _ := m.find(device.Ptr(slot*alignment + r.IntN(alignment)))
		want := live[slot]
		if want == nil {
			want = freed[slot]
		}
		require.Same(t, want, got)
		require.Equal(t, want != nil && live[slot] == nil, dead)
	}
	require.Len(t, m.all(), len(list))
}

func BenchmarkTable(b *testing.B) {
	const n = 100_000
	m := newTable()
	all := make([]*allocation, n)
	for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		all[i] = &allocation{base: device.Ptr(at+1) * alignment, size: alignment}
		m.add(all[i])
	}
	for i := 0; b.Loop(); i++ {
		a := all[i%n]
		m.remove(a)
		m.add(a)
		m.find(a.base + 17)
	}
}
