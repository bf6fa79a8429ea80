package asyncpipeline

import (
	"fmt"
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// lastOfSums is the gap behind which Sums can come to its end.
const lastOfSums = "2c"

// noteAnswer is noted of a call of Sums: the numbers that it answered.
const noteAnswer = "answer"

// alone lends Sums room for the results of its batches; the streams are its own.
var alone = &suite.Scene[Code, workload]{
	Set: func(s *suite.Stage, w workload) func(Code, workload) error {
		results := s.Results(len(w.batches))
		return func(code Code, w workload) error {
			sums, err := code.Sums(w.streams, suite.Given(s, "batches", w.into(results)))
			suite.Returned(s, "sums", sums)
			s.Note(noteAnswer, sums)
			return err
		}
	},
}

var (
	answered = &suite.Good[Code, workload]{Function: "Sums", Runs: []*suite.Runs[Code, workload]{
		alone.Runs("sums", lastOfSums, suite.Fixed(fromNothing()...), suite.Around[workload]{}),
		alone.Runs("sums-random", lastOfSums, drawn, suite.Around[workload]{}),
	}, Far: []*suite.Runs[Code, workload]{alone.Runs("sums-far", lastOfSums, far, suite.Around[workload]{}).Far()},
		Uncomputed: uncomputed, Further: []suite.Further{sumsFaults.Further(), sumsRefusals.Further()}}
	sumsFaults = alone.Faults("sums-faults", lastOfSums, threeBatches, suite.FaultJudge{Function: "Sums", Stops: true},
		wrongSums)
	sumsRefusals = suite.NewRefusals("sums-arguments", "2a", []suite.Bad[workload]{
		{Label: "0 streams", W: ofSizes(0, 100)},
		{Label: "-1 streams", W: ofSizes(-1, 100)},
		{Label: "a batch of 0 elements", W: ofSizes(2, 0)},
		{Label: "a batch of -5 elements behind two good ones", W: ofSizes(2, 64, 64, -5)},
	}, alone.Refuse, suite.Refusing("Sums", "Return contract.ErrArgument when n or the N of a batch is below 1.")).
		Behind(alone.Call(ofSizes(2, 64, 64, 64)))
)

// whole asks everything about Sums, of which the other checks know nothing: what is written of the first function is
// judged in full without the second.
var whole = func() suite.Part[Code] {
	p := answered.Results("from nothing to numbers, with streams of its own", wrongSums,
		func(all []call) string {
			return fmt.Sprintf("The sums of %d calls came to the host, each behind one wait, and nothing was left.", len(all))
		})
	p = p.With(answered.Part("", "", "", ownStreams), answered.Part("", "", "", onItsStreams),
		answered.Part("", "", "", early), answered.Order("", ""), answered.Cleanup("", "", sumsFaults),
		suite.Arguments("", sumsRefusals)).And(sumsWithErrors)
	p.ID = "whole"
	return answered.Beside(ofRun, p)
}()

// fromNothing are the calls of Sums at the edges: one stream, more streams than batches, batches that are alike, none
// at all, sums of more than 32 bits, and the same call twice, so that nothing of an earlier one may do for a later one.
func fromNothing() []workload {
	return []workload{
		ofSizes(1, 1),
		ofSizes(1, 1000, 1, 777),
		ofSizes(5, 1023, 2049),
		alike(3, 7),
		ofSizes(2),
		ofSizes(2, manyElements, 300),
		ofSizes(1, 1000, 1, 777),
		ofSizes(4, manySizes()...),
	}
}

// finding is one about Sums as a whole where it is about no call of CUDA's.
func finding(c *call, record int, r suite.Rule, format string, args ...any) []verdict.Finding {
	f := c.Finding(record, r, format, args...)
	f.Function = "Sums"
	return []verdict.Finding{f}
}

// wrongSums finds what is wrong with the sums of a call of Sums: with how they were computed, and with how they came to
// the host.
func wrongSums(c *call) []verdict.Finding {
	found := wrongResults(c)
	for i := range found {
		found[i].Function = "Sums"
	}
	return append(found, wrongAnswer(c)...)
}

// wrongAnswer finds numbers that are not what is at the results.
func wrongAnswer(c *call) []verdict.Finding {
	got, there := c.Noted(noteAnswer), c.Sums()
	if len(got) != len(c.W.batches) || len(there) < len(got) {
		return finding(c, -1, suite.Rule{ID: "wrong-result",
			Why: "Whoever calls Sums finds the sum of batch i at sums[i], and knows of no other order.",
			Fix: "Answer one number for each batch, in the order of the batches."},
			"Sums should answer %s, but answers %d.", verdict.Count(len(c.W.batches), "sum", "sums"), len(got))
	}
	if len(got) > 0 && len(c.All(toHost)) == 0 {
		return finding(c, -1, suite.Rule{ID: "not-computed",
			Why: "The host has no access to the device's memory, so numbers that no copy has brought come from elsewhere.",
			Fix: "Copy the 8 bytes at batches[i].Result when the host has waited for their stream."},
			"Sums should bring the sums from the device, but copies nothing to the host.")
	}
	for i, n := range got {
		if n == there[i] {
			continue
		}
		at, words := copied(c, i), ""
		switch {
		case n == there[i]&math.MaxUint32:
			words = ", the lower 4 of its 8 bytes"
		case n == suite.Garbage:
			words = ", what was there before the batch had run"
		case at < 0:
			words = ", and no copy brings that sum to the host"
		case slices.Contains(got, there[i]):
			words = ", and that number is in another place"
		}
		return finding(c, at, suite.Rule{ID: "wrong-result",
			Why: "The host has no access to the device's memory: it knows what was copied, as it was when the copy was done.",
			Fix: "Copy the 8 bytes at batches[i].Result when the host has waited for their stream, and answer " +
				"number(bytes) as sums[i]."},
			"Sums should answer %d for %s, which is at its Result, but answers %d%s.", there[i], batchName(c, i), n, words)
	}
	return nil
}

// copied is the last call that copies result i to the host; -1 where none does.
func copied(c *call, i int) int {
	at := -1
	for record, r := range c.Records {
		if toHost(r) && c.Touches(r, i) {
			at = record
		}
	}
	return at
}

func toHost(r *trace.Record) bool {
	return r.Op == trace.OpMemcpyDtoH || r.Op == trace.OpMemcpyDtoHAsync
}

// ownStreams finds what is wrong with the streams that a call of Sums has made.
func ownStreams(c *call) []verdict.Finding {
	made, want := c.Find(trace.OpStreamCreate), c.W.streams
	for _, at := range made {
		if c.Record(at).Flags&cuda.StreamNonBlocking == 0 {
			return finding(c, at, suite.Rule{ID: "blocking-stream",
				Why: "The legacy default stream waits for such streams and they for it, so that a call somewhere in the program " +
					"puts in order by chance what nothing orders here.",
				Fix: "Create it with cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)."},
				"the streams of Sums should not wait for the legacy default stream, but this one does.")
		}
	}
	if len(made) == want || len(c.W.batches) == 0 || !c.Outcome.OK() {
		return nil
	}
	return finding(c, append([]int{-1}, made...)[len(made)], suite.Rule{ID: "stream-count",
		Why: "Work in one stream runs one piece behind the other; n says how many batches may run at a time.",
		Fix: "Call cuda.StreamCreateWithFlags n times, and have Run put the batches on all of these streams."},
		"Sums should make %s, but made %d.", verdict.Count(want, "stream", "streams"), len(made))
}

// onItsStreams finds the operations that are not on their batch's stream, of those that a call of Sums has made. The
// copies to the host may be anywhere behind the batch.
func onItsStreams(c *call) []verdict.Finding {
	with := *c
	with.Streams = nil
	for _, at := range c.Find(trace.OpStreamCreate) {
		with.Streams = append(with.Streams, c.Record(at).Stream)
	}
	if len(with.Streams) != c.W.streams {
		return nil // which is told
	}
	return slices.DeleteFunc(misplaced(&with), func(f verdict.Finding) bool { return toHost(c.Record(f.Record)) })
}

// early finds the first call of a call of Sums that waits while batches are still to be enqueued.
func early(c *call) []verdict.Finding {
	last := make([]int, len(c.W.batches))
	for i := range last {
		if last[i] = c.LastInto(sumKernels.Sum, i); last[i] < 0 {
			return nil // which has no sum
		}
	}
	for at, r := range c.Records {
		what := c.HostWait(at)
		if what == "" {
			continue
		}
		enqueued := len(last) - len(slices.DeleteFunc(slices.Clone(last), func(launch int) bool { return launch < at }))
		if enqueued < len(last) {
			return finding(c, at, suite.Rule{ID: "waits-early",
				Why: "A stream runs dry while the host waits for another one and enqueues nothing.",
				Fix: "Wait for each stream once Run has returned for all batches, and not before."},
				"Sums should wait when all batches are enqueued, but %s %s with %d of %d enqueued.", suite.CallName(r), what,
				enqueued, len(last))
		}
	}
	return nil
}

// sumsWithErrors finds calls of CUDA's whose failure Sums has returned together with sums.
func sumsWithErrors(e *suite.Evidence) (found []verdict.Finding) {
	notes := e.Cases[sumsFaults.ID]
	if !e.Own() || answered.Incomplete(e) != "" {
		return nil
	}
	all := sumsFaults.Made(e)
	for _, run := range suite.FaultRuns(notes) {
		c := &all[run.Index]
		if sums := c.Noted(noteAnswer); run.Kept && len(sums) > 0 {
			f := c.At(run.Failed, verdict.Finding{Rule: "wrong-result",
				Message: fmt.Sprintf("%s. Sums should answer no sums with that error, but answers %d.", run.What, len(sums)),
				Why:     "A list that ends where something failed looks like one that is whole to who forgets the error.",
				Fix:     "Answer nil with the error on every way out; a defer that destroys the streams can see to it."})
			found = append(found, e.Because(f, notes, run))
		}
	}
	return verdict.Unique(found)
}
