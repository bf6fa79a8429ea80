package order

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/trace"
)

// Clocks hold what maps hold, whatever they share.
func TestClockAgainstMap(t *testing.T) {
	type pair struct {
		clock clock
		known map[trace.ID]int32
		floor int32
	}
	const largest = 5000
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 4))
		pairs := make([]pair, 6)
		for i := range pairs {
			pairs[i].known = map[trace.ID]int32{}
		}
		for range 2000 {
			p, q := &pairs[random.IntN(len(pairs))], &pairs[random.IntN(len(pairs))]
			switch random.IntN(20) {
			case 0:
				p.floor = max(p.floor, random.Int32N(500))
				p.clock = p.clock.join(clock{floor: p.floor})
			case 1, 2, 3:
				p.clock = p.clock.join(q.clock)
				p.floor = max(p.floor, q.floor)
				for id, pos := range q.known {
					p.known[id] = max(p.known[id], pos)
				}
			default:
				id, pos := trace.ID(random.IntN(1<<random.IntN(13))), random.Int32N(1000)
				p.clock = p.clock.set(id, pos)
				p.known[id] = max(p.known[id], pos)
			}
		}
		for _, p := range pairs {
			for id := range trace.ID(largest) {
				require.Equal(t, max(p.floor, p.known[id]), p.clock.position(id), "stream %d", id)
			}
			require.Equal(t, p.floor, p.clock.position(hostID-1))
		}
	}
}

// Joining clocks that know the same costs no memory, which is what keeps thousands of streams affordable.
func TestClocksShare(t *testing.T) {
	var a clock
	for id := range trace.ID(1000) {
		a = a.set(id, int32(id)+1)
	}
	b := a.set(500, 2000)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		a.join(b)
		b.join(a)
	}))
	require.Same(t, b.root, a.join(b).root)
}
