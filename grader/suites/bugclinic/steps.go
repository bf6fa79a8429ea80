package bugclinic

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// The lesson's kernels, as the trace names them, and the caller's delay.
const (
	fills   = "fillItem"
	digests = "digest"
	differs = "differ"
	delays  = "delay"
)

// call is one call of one of the functions.
type call struct{ *suite.Made[workload] }

// memory is the i-th that the caller allocated for the call.
func (c call) memory(i int) trace.ID {
	if lent := c.Lent(trace.OpMalloc); i < len(lent) {
		return lent[i]
	}
	return 0
}

// launches are the student's launches of a kernel over some memory.
func (c call) launches(kernel string, memory trace.ID) []int {
	return slices.DeleteFunc(c.Launches(kernel), func(at int) bool { return !suite.Touching(c.Record(at), memory) })
}

// writing reports whether a record writes some memory.
func writing(r *trace.Record, memory trace.ID) bool {
	return slices.ContainsFunc(r.Accesses, func(a trace.Access) bool { return a.Alloc == memory && a.Kind == trace.Write })
}

// writes are the student's calls that write some memory.
func (c call) writes(memory trace.ID) []int {
	return c.All(func(r *trace.Record) bool { return writing(r, memory) })
}

// step is something that a function has to do.
type step struct {
	does   string // what comes behind "Merge should": "launch kernels.Digest over data"
	stream int    // by its number among the function's; -1 where any will do
	found  []int  // the calls that did it
	times  int    // how often it has to be; 0: any number of times
}

// judge finds steps that were left out, were done in another stream, or too often.
func (c call) judge(steps ...step) (found []verdict.Finding) {
	for _, s := range steps {
		found = append(found, c.judgeStep(s)...)
	}
	return found
}

func (c call) judgeStep(s step) (found []verdict.Finding) {
	in := ""
	if s.stream >= 0 {
		in = " in " + c.W.of.streams[s.stream]
	}
	for _, at := range s.found {
		if s.stream >= 0 && !c.isStream(c.Record(at).Stream, s.stream) {
			found = append(found, c.At(at, verdict.Finding{
				Rule: "wrong-stream",
				Message: fmt.Sprintf("%s should %s%s, but this call is in %s.", c.W.of.name, s.does, in,
					c.StreamName(c.Record(at).Stream, suite.Names(c.W.of.streams...))),
				Why: "The stream that a call is given to decides what it waits for and what waits for it.",
				Fix: fmt.Sprintf("Pass %s as the stream of this call.", c.W.of.streams[s.stream]),
			}))
		}
	}
	switch {
	case len(found) > 0:
	case len(s.found) < max(s.times, 1):
		f := verdict.Finding{
			Rule: "step-left-out",
			Message: fmt.Sprintf("%s should %s%s for %s, but none of its calls does that.", c.W.of.name, s.does, in,
				c.W.Label()),
			Why: "What the function is there for has to be left of it: a bug is not mended by leaving out the work that it " +
				"is in.",
			Fix: "Keep all the steps that the function's comment names, and add the order that is missing between them.",
		}
		if s.times > 1 {
			f.Message = fmt.Sprintf("%s should %s%s %s for %s, but did so %s.", c.W.of.name, s.does, in, often(s.times),
				c.W.Label(), often(len(s.found)))
		}
		f.Function = c.W.of.name
		found = append(found, c.At(-1, f))
	case s.times > 0 && len(s.found) > s.times:
		found = append(found, c.At(s.found[s.times], verdict.Finding{
			Rule: "step-repeated",
			Message: fmt.Sprintf("%s should %s%s %s for %s, but this is one more.", c.W.of.name, s.does, in, often(s.times),
				c.W.Label()),
			Why: "Done twice, the work takes twice as long, and adds to a result twice.",
			Fix: "Leave one of the calls out.",
		}))
	}
	return found
}

// often is a number of times: "once", "5 times".
func often(times int) string {
	if times == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", times)
}

// isStream reports whether a stream is the i-th of the function's: one of the caller's, or one that the function has
// made.
func (c call) isStream(id trace.ID, i int) bool {
	if !c.W.of.made(i) {
		return id == c.Stream(i)
	}
	return len(c.All(func(r *trace.Record) bool { return r.Op == trace.OpStreamCreate && r.Stream == id })) > 0
}

func uploadSteps(c call) []verdict.Finding {
	if c.W.total() == 0 {
		return nil // there is nothing to copy
	}
	var copies []int
	bytes := int64(0)
	for _, at := range c.All(func(r *trace.Record) bool { return r.Host == trace.Pinned && writing(r, c.memory(0)) }) {
		copies = append(copies, at)
		for _, a := range c.Record(at).Accesses {
			if a.Kind == trace.Write {
				bytes += a.Size
			}
		}
	}
	does := "copy the parts from staging to dst"
	if bytes < int64(c.W.total()) {
		return c.judge(step{does: does, stream: 0, times: 1})
	}
	return c.judge(step{does: does, stream: 0, found: copies})
}

func weightsSteps(c call) []verdict.Finding {
	dst := c.memory(0)
	return c.judge(
		step{"copy weights to dst", -1, slices.DeleteFunc(c.writes(dst), func(at int) bool {
			return c.Record(at).Host == trace.NoHost
		}), 1},
		step{"launch kernels.Digest over dst", 0, c.launches(digests, dst), 1})
}

func pingPongSteps(c call) []verdict.Finding {
	var steps []step
	for i := range 2 {
		if times := (c.W.steps + 1 - i) / 2; times > 0 {
			steps = append(steps, step{fmt.Sprintf("launch kernels.FillItem over blocks[%d]", i), 0,
				c.launches(fills, c.memory(i)), times})
		}
	}
	for i := range c.W.steps {
		digest := c.digest(i)
		if digest >= 0 && !suite.Touching(c.Record(digest), c.memory(i%2)) {
			return []verdict.Finding{c.At(digest, verdict.Finding{
				Rule:    "wrong-block",
				Message: fmt.Sprintf("The digest of item %d should be of blocks[%d], but this call reads other memory.", i, i%2),
				Why: "With a single block in use, each fill has to wait for the digest right before it, and nothing runs " +
					"beside anything.",
				Fix: "Use blocks[i%2] for item i, and have only those two wait for each other that share a block.",
			})}
		}
		s := step{does: fmt.Sprintf("launch kernels.Digest into out+8*%d", i), stream: 1, times: 1}
		if digest >= 0 {
			s.found = []int{digest}
		}
		steps = append(steps, s)
	}
	return c.judge(steps...)
}

// digest is the launch that adds the i-th digest to its result; -1 if there is none.
func (c call) digest(i int) int {
	return c.LastInto(digests, i)
}

func mergeSteps(c call) []verdict.Finding {
	return c.judge(
		step{"launch kernels.Digest over data", 1, c.launches(digests, c.memory(0)), 1},
		step{"launch kernels.FillItem over other", 0, c.launches(fills, c.memory(1)), 1},
		step{"launch kernels.FillItem over data", 2, c.launches(fills, c.memory(0)), 1})
}

func replaceSteps(c call) []verdict.Finding {
	old := c.Stream(0)
	gone := c.All(func(r *trace.Record) bool { return r.Op == trace.OpStreamDestroy && r.Stream == old })
	if len(gone) == 0 {
		but := "but it is still there"
		if at := c.later(); at >= 0 && c.Record(at).Stream == old {
			but = "but it is the stream that was answered"
		}
		return []verdict.Finding{c.At(-1, verdict.Finding{
			Rule: "stream-kept", Function: c.W.of.name,
			Message: fmt.Sprintf("Replace should destroy old, %s.", but),
			Why:     "Whoever gives a stream away to be replaced has no use for it, and nobody else destroys it.",
			Fix: "Make a stream with cuda.StreamCreateWithFlags, have it wait for an event that was recorded in old, and " +
				"destroy old.",
		})}
	}
	return c.judge(
		step{"launch kernels.Digest over data", 0, c.launches(digests, c.memory(0)), 1},
		step{"launch kernels.FillItem over data", 1, c.launches(fills, c.memory(0)), 1})
}

// later is the caller's first look at what the call has left, behind the call; -1 if there was none.
func (c call) later() int {
	for at := c.To; at < len(c.Notes.Trace.Records); at++ {
		switch r := c.Record(at); {
		case r.Op == trace.OpLaunch && r.Kernel == differs:
			return at
		case r.Op == trace.OpMalloc: // the next call is being prepared
			return -1
		}
	}
	return -1
}

func allocateSteps(c call) []verdict.Finding {
	var answered trace.ID
	if at := c.later(); at >= 0 && len(c.Record(at).Accesses) > 0 {
		answered = c.Record(at).Accesses[0].Alloc
	}
	var made []int
	for _, b := range c.Blocks() {
		switch {
		case b.Alloc == answered && !b.Pooled:
			return nil // that it comes from outside of the streams is said as such
		case b.Alloc == answered:
			made = append(made, b.Made)
		}
	}
	return c.judge(
		step{"allocate the memory that it answers", 0, made, 1},
		step{does: "set the words to zero", stream: 0, found: c.writes(answered)})
}

func snapshotSteps(c call) []verdict.Finding {
	dst, src := c.memory(0), c.memory(1)
	copied := func(r *trace.Record) bool { return writing(r, dst) && r.Op != trace.OpLaunch }
	within := []trace.Op{trace.OpMemcpyDtoD, trace.OpMemcpyDtoDAsync}
	for _, at := range c.All(func(r *trace.Record) bool {
		return copied(r) && slices.Contains(within, r.Op) && !suite.Touching(r, src)
	}) {
		return []verdict.Finding{c.At(at, verdict.Finding{
			Rule: "step-left-out",
			Message: fmt.Sprintf("Snapshot should copy src to dst for %s, but this call writes to dst what is not from src "+
				"itself.", c.W.Label()),
			Why: "A copy by way of other memory is one of what was there when that was written, and costs memory and time for " +
				"all of it once more.",
			Fix: "Copy once, from src to dst, and order that copy between what has written src and what writes it next.",
		})}
	}
	return c.judge(
		step{"copy src to dst", -1, c.All(func(r *trace.Record) bool { return copied(r) && suite.Touching(r, src) }), 1},
		step{"launch kernels.FillItem over src", 0, c.launches(fills, src), 1})
}

func scratchSteps(c call) []verdict.Finding {
	var filled, digested []int
	for _, b := range c.Blocks() {
		filled, digested = append(filled, c.launches(fills, b.Alloc)...), append(digested, c.launches(digests, b.Alloc)...)
	}
	return c.judge(
		step{"launch kernels.FillItem over memory of its own", 1, filled, 1},
		step{"launch kernels.Digest over that memory", 1, digested, 1})
}
