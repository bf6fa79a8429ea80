package suite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// faultKinds are the calls that can be made to fail, with what each answers then: a code that CUDA's manual lists for
// it. Queries that may well answer "not ready" are made to fail where they are asked for; see EveryFault. The order is
// that of the runs. The order checker tells a fault once, where it is first seen, so the calls come first whose failure
// leaves every way to clean up.
var faultKinds = []struct {
	op   trace.Op
	code device.Code
}{
	{trace.OpDeviceInfo, device.ErrorUnknown},
	{trace.OpMemGetInfo, device.ErrorUnknown},
	{trace.OpMemGetAllocationGranularity, device.ErrorInvalidValue},
	{trace.OpStreamCreate, device.ErrorOutOfMemory},
	{trace.OpEventCreate, device.ErrorOutOfMemory},
	{trace.OpMemPoolCreate, device.ErrorOutOfMemory},
	{trace.OpMemPoolSetAttribute, device.ErrorInvalidValue},
	{trace.OpMemPoolGetAttribute, device.ErrorInvalidValue},
	{trace.OpDeviceGetDefaultMemPool, device.ErrorInvalidValue},
	{trace.OpDeviceGetMemPool, device.ErrorInvalidValue},
	{trace.OpDeviceSetMemPool, device.ErrorInvalidValue},
	{trace.OpMalloc, device.ErrorOutOfMemory},
	{trace.OpMallocHost, device.ErrorOutOfMemory},
	{trace.OpMallocAsync, device.ErrorOutOfMemory},
	{trace.OpMallocFromPoolAsync, device.ErrorOutOfMemory},
	{trace.OpMemAddressReserve, device.ErrorOutOfMemory},
	{trace.OpMemCreate, device.ErrorOutOfMemory},
	{trace.OpMemMap, device.ErrorOutOfMemory},
	{trace.OpMemSetAccess, device.ErrorInvalidValue},
	{trace.OpMemset, device.ErrorInvalidValue},
	{trace.OpMemsetAsync, device.ErrorInvalidValue},
	{trace.OpMemcpyHtoD, device.ErrorInvalidValue},
	{trace.OpMemcpyDtoH, device.ErrorInvalidValue},
	{trace.OpMemcpyDtoD, device.ErrorInvalidValue},
	{trace.OpMemcpyHtoDAsync, device.ErrorInvalidValue},
	{trace.OpMemcpyDtoHAsync, device.ErrorInvalidValue},
	{trace.OpMemcpyDtoDAsync, device.ErrorInvalidValue},
	{trace.OpLaunch, device.ErrorLaunchResources},
	{trace.OpMemPoolTrimTo, device.ErrorInvalidValue},
	{trace.OpEventRecord, device.ErrorInvalidHandle},
	{trace.OpStreamWaitEvent, device.ErrorInvalidHandle},
	{trace.OpEventQuery, device.ErrorInvalidHandle},
	{trace.OpStreamQuery, device.ErrorInvalidHandle},
	{trace.OpStreamSynchronize, device.ErrorUnknown},
	{trace.OpEventSynchronize, device.ErrorUnknown},
	{trace.OpDeviceSynchronize, device.ErrorUnknown},
	{trace.OpEventElapsedTime, device.ErrorUnknown},
	{trace.OpFree, device.ErrorInvalidValue},
	{trace.OpFreeHost, device.ErrorInvalidValue},
	{trace.OpFreeAsync, device.ErrorInvalidValue},
	{trace.OpMemUnmap, device.ErrorInvalidValue},
	{trace.OpMemRelease, device.ErrorInvalidValue},
	{trace.OpMemAddressFree, device.ErrorInvalidValue},
	{trace.OpMemPoolDestroy, device.ErrorInvalidValue},
	{trace.OpEventDestroy, device.ErrorInvalidHandle},
	{trace.OpStreamDestroy, device.ErrorInvalidHandle},
}

// maxFaults bounds the runs for one kind of call. Of more calls than that the first and the last are made to fail.
const maxFaults = 32

// maxQueries bounds the runs for one kind of query: who asks until something is done asks thousands of times on a GPU,
// and in another run another number of times. The first are made to fail.
const maxQueries = 4

// What EveryFault notes beside the outcomes of its runs.
const (
	// noteFault is, of a run in which a call was to fail, the index of its outcome, the call's kind and which one of that
	// kind.
	noteFault = "fault"
	// noteInput is, for each run in its turn, the number of its inputs.
	noteInput = "input"
	// noteKept is the index of the outcome of a run whose error is, or wraps, the one that the call was made to fail with.
	noteKept = "fault answered"
)

// faultInputs is on how many inputs the code may come to its end without the call that is to fail. What it does by then
// is judged as it is; see FaultJudge.Wrong.
const faultInputs = 3

// EveryFault runs the student's code once as it is, and then for every CUDA call that it made with that call failing,
// on inputs that it has not seen, so that nothing it may remember spares it the call. Where it makes fewer calls it is
// tried on other inputs. Then it runs once more on the same inputs without a failure, since the code has to stay
// usable; and on these inputs, with which all has gone well by then, the call fails as well, once for each line that
// makes such calls.
//
// prepare makes the inputs of one run: what the run is, the function to be called, which makes no CUDA call of the
// grader's own, and what is to be done when that has returned. Runs with the same number have the same inputs. All are
// to be alike in what the code has to call for them: keep them small, so that every call is made, and those in loops
// twice or three times.
//
// A query fails only where queries has it: that code may ask whether something is done is one thing, that it has to
// return every answer but "not ready" another.
func (b *Bench) EveryFault(prepare prepared, queries ...trace.Op) {
	input := 0
	once := func(what string, failing trace.Op, k int) (o verdict.Outcome, calls map[trace.Op][]uint32, struck bool) {
		o, calls = b.faulting(prepare, input, what, failing, k)
		return o, calls, len(calls[failing]) >= k
	}
	o, calls, _ := once("", 0, 0)
	if !o.OK() {
		return
	}
	for _, kind := range faultKinds {
		sites := calls[kind.op]
		if kind.op == trace.OpEventQuery || kind.op == trace.OpStreamQuery {
			if !slices.Contains(queries, kind.op) {
				continue
			}
			sites = sites[:min(len(sites), maxQueries)]
		}
		for k := 1; k <= len(sites); k++ {
			if k > maxFaults/2 && k <= len(sites)-maxFaults/2 {
				continue
			}
			which, struck := nth(k, kind.op), false
			for n := 0; n < faultInputs && !struck; n++ {
				input++
				if o, _, struck = once(" while the "+which+" fails", kind.op, k); o.Panic != "" {
					return // what follows could not be told from the harm that this has done
				}
			}
			if !struck {
				continue
			}
			if o, _, _ = once(" once more, after the "+which+" has failed", 0, 0); o.Panic != "" {
				return
			}
			if slices.Contains(sites[:k-1], sites[k-1]) {
				continue
			}
			if o, _, _ = once(" while the "+which+" fails, where it did not before", kind.op, k); o.Panic != "" {
				return
			}
		}
	}
}

// FaultInEach runs the student's code twice on each of so many inputs, as it is and with one drawn call failing of
// those that it made then: inputs need not be alike in what the code has to call for them. What goes wrong as it is,
// others tell. prepare and queries are as in EveryFault.
func (b *Bench) FaultInEach(inputs int, prepare prepared, queries ...trace.Op) {
	r := NewRand(b.Seed, "fault in each")
	for input := range inputs {
		o, calls := b.faulting(prepare, input, "", 0, 0)
		if !o.OK() {
			return
		}
		type call struct {
			op trace.Op
			k  int
		}
		var all []call
		for _, kind := range faultKinds {
			if (kind.op == trace.OpEventQuery || kind.op == trace.OpStreamQuery) && !slices.Contains(queries, kind.op) {
				continue
			}
			for k := range calls[kind.op] {
				all = append(all, call{kind.op, k + 1})
			}
		}
		if len(all) == 0 {
			continue
		}
		failing := all[r.IntN(len(all))]
		what := " while the " + nth(failing.k, failing.op) + " fails"
		if o, _ = b.faulting(prepare, input, what, failing.op, failing.k); o.Panic != "" {
			return
		}
	}
}

// faulting is one run, in which the k-th call of a kind is to fail; 0: none is.
func (b *Bench) faulting(prepare prepared, input int, what string, failing trace.Op,
	k int) (o verdict.Outcome, calls map[trace.Op][]uint32) {
	label, run, finish := prepare(input)
	if k > 0 {
		b.Value(noteFault, uint64(b.calls)<<32|uint64(failing)<<16|uint64(k))
		b.Session.Fail(failing, k, faultCode(failing))
		run = b.keeping(faultCode(failing), run)
	}
	b.Value(noteInput, uint64(input))
	mark := verdict.MarkCall + strconv.Itoa(b.calls)
	o = b.Call(label+what, run)
	calls = b.Session.CallsSince(mark)
	b.Session.ClearFaults()
	finish()
	return o, calls
}

// prepared makes the inputs of one run; see EveryFault.
type prepared = func(input int) (label string, run func() error, finish func())

// Inputs are drawn one after the other from a generator, each once.
type Inputs[W any] struct {
	r     *rand.Rand
	draw  func(*rand.Rand) W
	drawn []W
}

// At is the input with a number, from 0 on.
func (in *Inputs[W]) At(number int) W {
	for len(in.drawn) <= number {
		in.drawn = append(in.drawn, in.draw(in.r))
	}
	return in.drawn[number]
}

// FaultInputs are the inputs of the runs of EveryFault in a case, in the order of its outcomes.
func FaultInputs[W any](e *Evidence, caseID string, draw func(*rand.Rand) W) (all []W) {
	c, inputs := e.Cases[caseID], NewInputs(NewRand(e.Seed, caseID), draw)
	for i := range c.Outcomes[:min(len(c.Outcomes), maxCalls)] {
		number := i
		if numbers := c.Values[noteInput]; i < len(numbers) {
			number = int(min(numbers[i], uint64(i)))
		}
		all = append(all, inputs.At(number))
	}
	return all
}

// NewInputs are inputs of which none is drawn yet.
func NewInputs[W any](r *rand.Rand, draw func(*rand.Rand) W) *Inputs[W] {
	return &Inputs[W]{r: r, draw: draw}
}

// keeping notes it where a run answers an error of CUDA's with this code.
func (b *Bench) keeping(code device.Code, run func() error) func() error {
	index := uint64(b.calls)
	return func() error {
		err := Sound(run())
		if errors.Is(err, code) {
			b.Value(noteKept, index)
		}
		return err
	}
}

func faultCode(op trace.Op) device.Code {
	for _, kind := range faultKinds {
		if kind.op == op {
			return kind.code
		}
	}
	return device.ErrorUnknown
}

// nth is one call of a kind: "2nd call of cuda.MallocAsync", "1st kernel launch".
func nth(k int, op trace.Op) string {
	switch op {
	case trace.OpLaunch:
		return ordinal(k) + " kernel launch"
	case trace.OpDeviceInfo:
		return ordinal(k) + " device query"
	}
	return ordinal(k) + " call of cuda." + op.String()
}

// ordinal is a place in a row: "1st", "22nd", "113th".
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
