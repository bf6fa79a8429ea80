package run

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"cudalab/grader/judge/visible"
	"cudalab/grader/judge/wire"
	"cudalab/grader/machine/child"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// verdictOf says of a case that did not end in order what that means for the exercise. ok is false for a case that
// did, and for one whose end is nobody's fault but cudalab's, which is then in err.
func verdictOf(run caseRun, l locator) (status verdict.Status, f verdict.Finding, ok bool, err error) {
	switch run.end {
	case done:
		for _, o := range run.notes.Outcomes {
			if o.Panic != "" && !o.Runaway && l.ours(o.Stack) {
				return "", verdict.Finding{}, false, fmt.Errorf("case %s: cudalab's own code panicked: %s", run.notes.ID, o.Panic)
			}
			if o.Panic != "" {
				return verdict.Crashed, panicked(o, l), true, nil
			}
			if o.Odd.Rule != "" {
				return verdict.Failed, odd(o, l), true, nil
			}
			if o.Excess.Asked > 0 {
				return verdict.Failed, excessive(o, run.notes.Trace, l), true, nil
			}
		}
		if f, ok := callsInError(run.notes, l); ok {
			return verdict.Failed, f, true, nil
		}
		return "", verdict.Finding{}, false, nil
	case deviceLost:
		return verdict.Crashed, lostDevice(run, l), true, nil
	case timedOut:
		return verdict.Timeout, stuck(run, l), true, nil
	case starved:
		return "", verdict.Finding{}, false, fmt.Errorf("case %s: %w", run.notes.ID, &Busy{run.child})
	case outOfMemory:
		return verdict.Crashed, greedy(run, l), true, nil
	case died:
		if c := parseCrash(run.crash); c.ours(l) && !run.notGreeted {
			return "", verdict.Finding{}, false, fmt.Errorf("case %s: the runner itself crashed in %s", run.notes.ID, c.where())
		}
		// Nothing in the runner can do that, and its memory has a limit of its own: the machine has run out of it, or a
		// person has ended the process.
		if run.child.Signal == os.Kill {
			return "", verdict.Finding{}, false, fmt.Errorf("case %s: something else on this machine killed the runner",
				run.notes.ID)
		}
		return verdict.Crashed, crashed(run, l), true, nil
	case faulted:
		if f, ok := notYours(run.fault, l); ok {
			return verdict.Failed, f, true, nil
		}
		return unexplained(run)
	case cancelled:
		return "", verdict.Finding{}, false, errCancelled
	}
	return unexplained(run)
}

// Unexplained is the error where the grader's own part of a case went wrong, and nothing shows why.
type Unexplained struct{ Case, Problem string }

func (e *Unexplained) Error() string { return fmt.Sprintf("case %s: %s", e.Case, e.Problem) }

// unexplained is the verdict on such a case: the error, until it is known that it goes well with other code in the
// place of the student's.
func unexplained(run caseRun) (verdict.Status, verdict.Finding, bool, error) {
	problem := run.fault.Message
	if run.end == nonsense {
		problem = "what the runner sent made no sense: " + problem
	}
	if !run.blamed {
		return "", verdict.Finding{}, false, &Unexplained{run.notes.ID, problem}
	}
	return verdict.Failed, verdict.Finding{
		Rule: "left-broken", Severity: verdict.Error, Record: -1,
		Message: fmt.Sprintf("After your code had run, its caller should have been able to go on, but could not: %s. With "+
			"the solution in its place it can.", problem),
		Why: "The streams, events and memory that are passed in, and the device's own pools, are still in use when your " +
			"code has returned.",
		Fix: "Leave the device as you found it: destroy and free only what your code has made, and set back what it has set.",
	}, true, nil
}

func panicked(o verdict.Outcome, l locator) verdict.Finding {
	if o.Runaway {
		return l.at(verdict.Finding{
			Rule: "endless-calls", Severity: verdict.Error, Record: -1,
			Message: fmt.Sprintf("In the test %q your code should have returned, but it went on making CUDA calls and was "+
				"stopped: %s.",
				o.Label, strings.TrimSuffix(o.Panic, ".")),
			Why: "Most CUDA calls return at once, whatever the device still does, so only its own condition ends a loop " +
				"around them.",
			Fix: "Look at the condition of the loop around this call: it never becomes false.",
		}, o.Stack)
	}
	if asked(o.Stack) {
		return l.at(verdict.Finding{
			Rule: "panic", Severity: verdict.Error, Record: -1,
			Message: fmt.Sprintf("In the test %q your code should have returned an error that says what went wrong, but it "+
				"panics when it is asked: %s.",
				o.Label, quoted(o.Panic)),
			Why: "A struct with an error embedded has that error's methods, and where it is nil there is nothing that they " +
				"could say.",
			Fix: "Return an error that was made: errors.New, fmt.Errorf with %w, or what a call answered.",
		}, o.Stack)
	}
	return l.at(verdict.Finding{
		Rule: "panic", Severity: verdict.Error, Record: -1,
		Message: fmt.Sprintf("In the test %q%s your code should have returned, but it panicked: %s.", o.Label,
			behind(o.Before), quoted(o.Panic)),
		Why: "A panic leaves the function at once: memory on the device stays allocated, and Go's garbage collector does " +
			"not free it.",
		Fix: panicFix(o.Panic),
	}, o.Stack)
}

// behind is what came before a call that panicked.
func behind(before string) string {
	if before == "" {
		return ""
	}
	return ", behind " + before + ","
}

// excessive is the finding for code that took more memory than the exercise's limit.
func excessive(o verdict.Outcome, t *trace.Trace, l locator) verdict.Finding {
	e := o.Excess
	f := verdict.Finding{
		Rule: "memory-limit", Severity: verdict.Error, Record: -1,
		Message: fmt.Sprintf("In the test %q your code should get by with %s of memory at one time, on the device and "+
			"pinned together, but it asked for %s while it held %s, and was answered %s.", o.Label, bytesOf(e.Quota),
			bytesOf(e.Asked), bytesOf(e.Held), device.ErrorOutOfMemory),
		Why: "Everyone whose code runs on a device shares its memory, so here nobody may have much more than the exercise " +
			"takes; Go's garbage collector frees none of it.",
		Fix: "Allocate only what the work that is under way needs, and free it when that is done; look at what is " +
			"allocated in a loop.",
	}
	if e.Record < 0 || e.Record >= len(t.Records) {
		return f
	}
	f.Record = e.Record
	return l.at(f, t.SiteOf(&t.Records[e.Record]))
}

// bytesOf is an amount of memory in words: "512 MiB".
func bytesOf(n uint64) string {
	if n >= 10<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// panicFix has a word for the panics that beginners meet.
// outOfRange are the index and the length that Go names.
var outOfRange = regexp.MustCompile(`index out of range \[(-?\d+)\](?: with length (\d+))?`)

// panicFix is what to do about a panic, by what Go says of it.
func panicFix(message string) string {
	if m := outOfRange.FindStringSubmatch(message); m != nil {
		return indexFix(m[1], m[2])
	}
	switch {
	case strings.Contains(message, "integer divide by zero"):
		return "Check that the divisor is not zero, for instance len(streams), before dividing or taking a remainder."
	case strings.Contains(message, "nil map"):
		return "Make the map before anything is written to it: make(map[K]V), where the struct that it is part of is made."
	case strings.Contains(message, "nil pointer"):
		return "What stands before the dot is nil: it was given no value, or a search has found nothing and nobody looked. " +
			"Give it one, or ask whether it is nil first."
	case strings.Contains(message, "makeslice"):
		return "The length that make is given is negative, or more than memory can hold: refuse such an argument before " +
			"anything is made of it."
	case strings.Contains(message, "out of range"):
		return "Check the bounds against the length before slicing or making."
	}
	return "Return an error instead of panicking; the line above is where it happened."
}

// longestSlice is longer than any slice can be: an index beyond it was no number of an element's.
const longestSlice = 1 << 40

// indexFix is what to do about an index out of range; length is "" for a negative one.
func indexFix(index, length string) string {
	switch n, err := strconv.ParseInt(index, 10, 64); {
	case err != nil || n > longestSlice:
		return "The index is an unsigned number that has gone below 0, where it goes on from the largest: something larger " +
			"was taken from something smaller, such as where memory begins from an address below it. Compare the two before " +
			"you subtract."
	case n < 0:
		return "The index is negative: look at what is subtracted for it, or whether a search that found nothing has " +
			"answered -1."
	case length == "0":
		return "The slice is empty, so it has no element, not even the last: see that it is made and filled before, or ask " +
			"for its length first."
	case index == length:
		return "This is one more than the last: elements are numbered from 0 to one below the length. Look at where the " +
			"loop or the search ends, at < and <=, and at how long the slice was made."
	}
	return "Check the index against the slice's length: look at how the index is worked out, and at how long the slice " +
		"was made."
}

func lostDevice(run caseRun, l locator) verdict.Finding {
	f := verdict.Finding{
		Rule: "device-lost", Severity: verdict.Error, Record: -1,
		Message: fmt.Sprintf("After your code had run, the device should still have worked, but it answered %s.",
			run.fault.Message),
		Why: "When a kernel touches memory that it may not touch, every later CUDA call of the process fails.",
		Fix: "Look for a pointer that is used before its allocation, after its free, or beyond its end; where the order of " +
			"the calls shows it, another finding names the line.",
	}
	// The last launch is where to begin: what it was given, or what was done to that since.
	for i := len(run.notes.Trace.Records) - 1; i >= 0; i-- {
		r := &run.notes.Trace.Records[i]
		if at := l.at(f, run.notes.Trace.SiteOf(r)); r.Op == trace.OpLaunch && at.File != "" {
			at.Message += fmt.Sprintf(" The last kernel before that was launched by %s here.", suite.CallName(r))
			return at
		}
	}
	return f
}

func stuck(run caseRun, l locator) verdict.Finding {
	g, inside := parseCrash(run.crash).in(l)
	f := verdict.Finding{
		Rule: "timeout", Severity: verdict.Error, Record: -1,
		Message: "Your code should have returned within milliseconds, but after seconds it was still running and was " +
			"stopped.",
		Why: "Most CUDA calls return at once, and the work that they start on the device is short here.",
		Fix: "Look for a loop that does not end, or a wait for work that never finishes.",
	}
	switch {
	case !inside:
		return f
	case waitsForever[g.state]:
		f.Message = fmt.Sprintf("Your code should have returned within milliseconds, but after seconds it was still waiting "+
			"(%s) and was stopped.", g.state)
		f.Why = whyAlone
		f.Fix = "Nobody will ever send on this channel: these lessons need no channels, the order is the streams' and " +
			"events'."
		return l.at(f, g.site)
	}
	site, looping := l.loop(g.site)
	if looping {
		f.Fix = "Look at this loop and those around it: one of them never ends, or makes far more turns than it needs."
	}
	return l.at(f, site)
}

// whyAlone is why a wait for another goroutine never ends.
const whyAlone = "A channel passes values between goroutines, and this code runs in one alone: all that runs beside " +
	"it is the device's work."

var waitsForever = map[string]bool{"chan receive": true, "chan send": true, "select": true, "select (no cases)": true,
	"chan receive (nil chan)": true, "chan send (nil chan)": true}

func greedy(run caseRun, l locator) verdict.Finding {
	f := verdict.Finding{
		Rule: "host-memory", Severity: verdict.Error, Record: -1,
		Why: "The data of these lessons is in the device's memory; the host keeps little more than pointers to it.",
		Message: fmt.Sprintf("Your code should get by with a few MiB of host memory, but reached %.1f GiB and was stopped.",
			float64(run.child.Peak)/(1<<30)),
		Fix: "Look for a slice or map that grows in a loop that does not end.",
	}
	if g, ok := parseCrash(run.crash).in(l); ok {
		return l.at(f, g.site)
	}
	return f
}

// whyEnded is why the end of the process cannot be part of a solution.
const whyEnded = "When the process ends, everything on the device that belongs to it is gone, and nothing is left to " +
	"judge."

func crashed(run caseRun, l locator) verdict.Finding {
	c := run.lastWords()
	f := verdict.Finding{Rule: "crash", Severity: verdict.Error, Record: -1}
	switch {
	case strings.Contains(c.headline, "all goroutines are asleep"):
		f.Rule = "deadlock"
		f.Message = "Your code should have returned, but it waits for something that can never happen: a deadlock."
		f.Why = whyAlone
		f.Fix = "Nobody will ever send on this channel: these lessons need no channels, the order is the streams' and " +
			"events'."
	case strings.HasPrefix(c.headline, "SIGSEGV"), strings.HasPrefix(c.headline, "SIGBUS"):
		f.Rule = "driver-crash"
		f.Message = "The call on this line should have returned, but NVIDIA's driver crashed inside it and took the " +
			"process with it."
		if _, ok := c.in(l); !ok {
			f.Message = "Your code returned, but NVIDIA's driver crashed when the device was cleaned up after it."
		}
		f.Why = "The driver does not check all that it is given, so a value that is no longer valid can crash it."
		f.Fix = "Mend the other findings first: a pool, stream or block that is no longer valid, or was never given back, " +
			"is the usual cause."
	case strings.Contains(c.headline, "stack overflow"):
		f.Rule = "endless-recursion"
		f.Message = "Your code should have returned, but a function calls itself without end until the stack is full."
		f.Why = "Every call that has not returned takes a piece of the stack, and the stack has a limit."
		f.Fix = "Give the recursion a case in which it stops."
	case c.headline != "":
		f.Message = "Your code should have returned, but it ended the process: " + quoted(visible.Line(c.headline)) + "."
		f.Why = whyEnded
		f.Fix = "Return an error instead of ending the process; the line above is where it happened."
	case run.child.Reason == child.Signalled:
		f.Message = fmt.Sprintf("Your code should have returned, but the process was ended by a signal (%v).",
			run.child.Signal)
		f.Why = whyEnded
		f.Fix = "Run the check again; if it happens each time, look at what the last CUDA call was given."
	default:
		f.Message = fmt.Sprintf("Your code should have returned, but the process ended in the middle, with exit status %d.",
			run.child.ExitCode)
		f.Why = whyEnded
		f.Fix = "Run the check again; if it happens each time, look at what the last CUDA call was given."
	}
	if g, ok := c.in(l); ok {
		return l.at(f, g.site)
	}
	return f
}

// notYours explains a fault of the grader's own call by what the student's code took away: an allocation, stream, event
// or pool that was lent to it.
func notYours(fault wire.Fault, l locator) (verdict.Finding, bool) {
	if fault.Taken == "" {
		return verdict.Finding{}, false
	}
	return l.at(verdict.Finding{
		Rule: "not-yours", Severity: verdict.Error, Record: -1,
		Message: fmt.Sprintf("Your code should leave what its caller has lent to it, but cuda.%s takes it away here: what "+
			"comes in as an argument, and the device's own pools, belong to the caller.", fault.Taken),
		Why: "The caller still uses them after your code has returned.",
		Fix: "Leave the call out; free and destroy only what your code has made itself.",
	}, fault.Site), true
}

// quoted is what the student's code says, marked as its own words: it could as well read like a sentence of cudalab's.
func quoted(text string) string {
	if strings.HasPrefix(text, "runtime error: ") && !strings.Contains(text, ". ") {
		return text // Go's own words, or as short as they are
	}
	return "\"" + text + "\""
}
