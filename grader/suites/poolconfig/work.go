package poolconfig

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

func judgeWork(e *suite.Evidence) suite.Answer {
	blocks := 0
	a := good.Judge(e, "", each(func(c *call) []verdict.Finding {
		blocks += len(c.blocks)
		if wrong := c.blockCount(); wrong != nil {
			return wrong
		}
		var misplaced, apart, handled, waits []verdict.Finding
		for i, round := range c.rounds() {
			misplaced = append(misplaced, c.misplaced(round)...)
			apart = append(apart, c.apart(i, round)...)
			waits = append(waits, c.waits(round)...)
			for _, b := range round {
				handled = append(handled, c.handled(b)...)
			}
		}
		return slices.Concat(misplaced, apart, handled, waits)
	}))
	a.Message = fmt.Sprintf("%d blocks were allocated, touched in full and freed, each in its stream.", blocks)
	return a
}

// blockCount finds that not as many blocks were allocated as all rounds have.
func (c *call) blockCount() []verdict.Finding {
	if len(c.blocks) == c.due() {
		return nil
	}
	at := -1
	if n := len(c.blocks); n > 0 {
		at = c.blocks[n-1].Made
	}
	return []verdict.Finding{c.Finding(at, suite.Rule{ID: "block-count",
		Why: "The numbers of two rounds can be compared only if every round allocates the same blocks.",
		Fix: "Loop over config.Rounds, and within each round over config.Sizes."},
		"Run should allocate %s in all, but it allocated %d.", verdict.Count(c.due(), "block", "blocks"), len(c.blocks))}
}

// waits finds what makes the host wait in a round before its last block has been touched.
func (c *call) waits(round []suite.Block) (found []verdict.Finding) {
	last := -1
	for _, b := range round {
		last = max(last, slices.Max(append(b.Touched, -1)))
	}
	for _, at := range c.waited {
		if at > round[0].Made && at < last {
			found = append(found, c.Finding(at, suite.Rule{ID: "host-wait",
				Why: "While the host waits it enqueues nothing, so the streams run dry and the blocks are touched one after the " +
					"other.",
				Fix: "Leave it out: touch all blocks of the round first, and wait once, at its end."},
				"nothing should make the host wait before all blocks of the round have been touched, but %s %s.",
				suite.CallName(c.Record(at)), c.HostWait(at)))
		}
	}
	return found
}

// misplaced finds blocks of a size that the round has none of, and blocks in a stream that is not their own. The order
// within a round is free.
func (c *call) misplaced(round []suite.Block) (found []verdict.Finding) {
	sizes := c.W.config.Sizes
	open := make([]int, len(sizes)) // the blocks still to come
	for j := range open {
		open[j] = j
	}
	// claim takes a block of this size off those, one that belongs in its stream if so asked; -1 if there is none.
	claim := func(b suite.Block, inStream bool) int {
		i := slices.IndexFunc(open, func(j int) bool {
			return sizes[j] == b.Size && (!inStream || c.Stream(j%max(len(c.Streams), 1)) == b.Stream)
		})
		if i < 0 {
			return -1
		}
		j := open[i]
		open = slices.Delete(open, i, i+1)
		return j
	}
	var strays []suite.Block
	for _, b := range round {
		if claim(b, true) < 0 {
			strays = append(strays, b)
		}
	}
	for _, b := range strays {
		if j := claim(b, false); j < 0 {
			found = append(found, c.Finding(b.Made, suite.Rule{ID: "wrong-size",
				Why: "A pool counts every byte that is allocated from it, so a block of another size changes its numbers.",
				Fix: "Allocate config.Sizes[j] bytes for block j."},
				"a round should have one block for each of config.Sizes, but here is one of %s too many.",
				bytesName(uint64(b.Size))))
		} else if b.Pooled { // memory from Malloc is in no stream, and has been told of
			found = append(found, c.wrongStream(b.Made,
				fmt.Sprintf("the block of config.Sizes[%d] should be on config.Streams[%d %% %d], which is %s",
					j, j, len(c.Streams), streamName(j%max(len(c.Streams), 1))), b.Stream))
		}
	}
	return found
}

// streamName is how the student sees a stream: by its place in the slice.
func streamName(i int) string { return fmt.Sprintf("config.Streams[%d]", i) }

func (c *call) wrongStream(at int, belongs string, is trace.ID) verdict.Finding {
	return c.Finding(at, suite.Rule{ID: "wrong-stream",
		Why: "Work in one stream runs in order by itself, and work in different streams can run at the same time.",
		Fix: "Take stream := config.Streams[j%len(config.Streams)] and give it to every call of block j."},
		"every call for %s, but %s is on %s.", belongs, suite.CallName(c.Record(at)), c.StreamName(is, streamName))
}

// apart finds a free within a round that comes before the round's last block is allocated.
func (c *call) apart(i int, round []suite.Block) []verdict.Finding {
	for _, b := range round {
		if b.Freed >= 0 && b.Freed < round[len(round)-1].Made {
			return []verdict.Finding{c.Finding(b.Freed, suite.Rule{ID: "freed-too-soon",
				Why: "A pool hands out again what was freed: if each block is freed at once, the pool never holds more than the " +
					"largest.",
				Fix: "Allocate all blocks of the round, then touch them, then free them."},
				"all blocks of a round should be live together, but here one is freed before round %d has allocated its last.", i)}
		}
	}
	return nil
}

// handled finds what is missing between a block's allocation and its end.
func (c *call) handled(b suite.Block) (found []verdict.Finding) {
	if !b.Pooled {
		return nil
	}
	inStream := func(at int) {
		if is := c.Record(at).Stream; is != b.Stream {
			found = append(found, c.wrongStream(at, "this block should be on "+c.StreamName(b.Stream, streamName), is))
		}
	}
	covered := int64(0)
	for _, at := range b.Touched {
		inStream(at)
		for _, a := range c.Record(at).Accesses {
			if a.Alloc == b.Alloc && a.Kind == trace.Write && a.Offset <= covered {
				covered = max(covered, a.Offset+a.Size)
			}
		}
	}
	if covered < b.Size {
		rule := suite.Rule{ID: "not-touched", Why: "A pool's numbers mean something only for memory that is really used.",
			Fix: "Launch kernels.Touch(64, 256, stream, block, size, seed) between the allocation and the free."}
		size := bytesName(uint64(b.Size))
		f := c.Finding(b.Made, rule, "every byte of the block of %s that is allocated here should be touched, but no kernel "+
			"writes it.", size)
		if n := len(b.Touched); n > 0 {
			f = c.Finding(b.Touched[n-1], rule, "a block of %s should be touched whole, but here a kernel writes only its "+
				"first %s.", size,
				bytesName(uint64(covered)))
		}
		found = append(found, f)
	}
	switch {
	case b.Freed < 0: // told as a leak
	case c.Record(b.Freed).Op == trace.OpFree:
		found = append(found, c.Finding(b.Freed, suite.Rule{ID: "synchronous-free",
			Why: "cuda.Free of memory from a pool waits for nothing, and the pool goes on counting the block as used.",
			Fix: "Call cuda.FreeAsync(block, stream)."},
			"blocks should be freed in their streams, but cuda.Free frees one here."))
	default:
		inStream(b.Freed)
	}
	return found
}
