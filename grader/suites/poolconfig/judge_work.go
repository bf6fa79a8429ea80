package poolconfig

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeWork(e *suite.Evidence) suite.Answer {
	blocks := 0
	a := judged(e, false, func(c *call) []suite.Finding {
		blocks += len(c.blocks)
		if !c.whole() {
			return []suite.Finding{c.miscounted()}
		}
		found := c.misplaced()
		for i, round := range c.rounds() {
			found = append(found, c.apart(i, round)...)
		}
		for i := range c.blocks {
			found = append(found, c.handled(&c.blocks[i])...)
		}
		return found
	})
	a.Message = fmt.Sprintf("%d blocks were allocated, touched in full and freed, each in its stream.", blocks)
	return a
}

func (c *call) miscounted() suite.Finding {
	at := -1
	if n := len(c.blocks); n > 0 {
		at = c.blocks[n-1].made
	}
	return c.At(at, suite.Finding{
		Rule: "block-count",
		Message: fmt.Sprintf("With %s, Run should allocate %s in all, but it allocated %d.", c.w.label,
			suite.Count(c.w.blocks(), "block", "blocks"), len(c.blocks)),
		Why: "The numbers of two rounds can be compared only if every round allocates the same blocks.",
		Fix: "Loop over config.Rounds, and within each round over config.Sizes.",
	})
}

// misplaced finds blocks of a size that the round has none of, and blocks in a stream that is not their own. The order
// within a round is free.
func (c *call) misplaced() []suite.Finding {
	var found []suite.Finding
	for _, round := range c.rounds() {
		open := make([]int, len(c.w.config.Sizes)) // the blocks still to come
		for j := range open {
			open[j] = j
		}
		claim := func(match func(j int) bool) (j int, ok bool) {
			i := slices.IndexFunc(open, match)
			if i < 0 {
				return 0, false
			}
			j = open[i]
			open = slices.Delete(open, i, i+1)
			return j, true
		}
		var strays []block
		for _, b := range round {
			if _, ok := claim(func(j int) bool { return c.w.config.Sizes[j] == b.size && c.streamOf(j) == b.stream }); !ok {
				strays = append(strays, b)
			}
		}
		for _, b := range strays {
			j, ok := claim(func(j int) bool { return c.w.config.Sizes[j] == b.size })
			if !ok {
				found = append(found, c.At(b.made, suite.Finding{
					Rule: "wrong-size",
					Message: fmt.Sprintf("With %s, a round should have one block for each of config.Sizes, but here is one of %s too many.", c.w.label,
						bytesName(uint64(b.size))),
					Why: "A pool counts every byte that is allocated from it, so a block of another size changes its numbers.",
					Fix: "Allocate config.Sizes[j] bytes for block j.",
				}))
				continue
			}
			if !b.pooled {
				continue // memory from Malloc is in no stream, and has been told of
			}
			belongs := fmt.Sprintf("every call for the block of config.Sizes[%d] should be on config.Streams[%d %% %d], which is config.Streams[%d]", j, j, len(c.Streams),
				j%len(c.Streams))
			found = append(found, c.wrongStream(b.made, belongs, b.stream))
		}
	}
	return found
}

func (c *call) streamOf(j int) trace.ID { return c.Streams[j%len(c.Streams)] }

func (c *call) wrongStream(at int, belongs string, is trace.ID) suite.Finding {
	return c.At(at, suite.Finding{
		Rule: "wrong-stream",
		Message: fmt.Sprintf("With %s, %s, but %s is on %s.", c.w.label, belongs, suite.CallName(c.Record(at)),
			c.streamName(is)),
		Why: "Work in one stream runs in order by itself, and work in different streams can run at the same time.",
		Fix: "Take stream := config.Streams[j%len(config.Streams)] and give it to every call of block j.",
	})
}

// apart finds a free within a round that comes before the round's last block is allocated.
func (c *call) apart(i int, round []block) []suite.Finding {
	end := round[len(round)-1].made
	for _, b := range round {
		if b.freed >= 0 && b.freed < end {
			return []suite.Finding{c.At(b.freed, suite.Finding{
				Rule: "freed-too-soon",
				Message: fmt.Sprintf("With %s, all blocks of a round should be live together, but here one is freed before round %d has "+
					"allocated its last.", c.w.label, i),
				Why: "A pool hands out again what was freed: if each block is freed at once, the pool never holds more than the largest.",
				Fix: "Allocate all blocks of the round, then touch them, then free them.",
			})}
		}
	}
	return nil
}

// handled finds what is missing between a block's allocation and its end.
func (c *call) handled(b *block) []suite.Finding {
	if !b.pooled {
		return nil
	}
	var found []suite.Finding
	covered := int64(0)
	for _, at := range b.touched {
		r := c.Record(at)
		if r.Stream != b.stream {
			found = append(found, c.wrongStream(at, "every call for this block should be on "+c.streamName(b.stream), r.Stream))
		}
		for _, a := range r.Accesses {
			if a.Alloc == b.alloc && a.Kind == trace.Write && a.Offset <= covered {
				covered = max(covered, a.Offset+a.Size)
			}
		}
	}
	if covered < b.size {
		f := suite.Finding{
			Rule: "not-touched",
			Message: fmt.Sprintf("With %s, every byte of the block of %s that is allocated here should be touched, but no kernel "+
				"writes it.", c.w.label, bytesName(uint64(b.size))),
			Why: "A pool's numbers mean something only for memory that is really used.",
			Fix: "Launch kernels.Touch(64, 256, stream, block, size, seed) between the allocation and the free.",
		}
		at := b.made
		if len(b.touched) > 0 {
			at = b.touched[len(b.touched)-1]
			f.Message = fmt.Sprintf("With %s, a block of %s should be touched whole, but here only %s of it is written.", c.w.label,
				bytesName(uint64(b.size)), bytesName(uint64(covered)))
		}
		found = append(found, c.At(at, f))
	}
	if b.freed < 0 {
		return found // told as a leak
	}
	switch r := c.Record(b.freed); {
	case r.Op == trace.OpFree:
		found = append(found, c.At(b.freed, suite.Finding{
			Rule:    "synchronous-free",
			Message: fmt.Sprintf("With %s, blocks should be freed in their streams, but cuda.Free frees one here.", c.w.label),
			Why:     "cuda.Free of memory from a pool waits for nothing, and the pool goes on counting the block as used.",
			Fix:     "Call cuda.FreeAsync(block, stream).",
		}))
	case r.Stream != b.stream:
		found = append(found, c.wrongStream(b.freed, "every call for this block should be on "+c.streamName(b.stream), r.Stream))
	}
	return found
}
