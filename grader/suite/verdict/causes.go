package verdict

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Cause is the finding that another one comes of.
type Cause struct {
	Rule string `json:"rule"`
	File string `json:"file"`
	Line int    `json:"line"`
	// Same is set where the other one is the same mistake once more: it has the same rule and is mended in the same way.
	Same bool `json:"same,omitempty"`
}

// Root reports whether a finding is an error that comes of no other: one to begin with.
func (f Finding) Root() bool { return f.Severity == Error && f.Follows == nil }

// Origin says in words where a finding most likely comes from that follows another: "may come of the data-race in line
// 44". Rules know what comes of what; only a change that is tried would show it.
func (f Finding) Origin() string {
	c := f.Follows
	switch at := c.place(f.File); {
	case c.Same && c.File == f.File && c.Line == f.Line:
		return "as told above"
	case c.Same && at != "":
		return "the same as " + at
	case c.Same:
		return "the same once more"
	case at != "":
		return "may come of the " + c.Rule + " " + at
	default:
		return "may come of the " + c.Rule
	}
}

// Again reports whether a finding says no more than the one above it but where.
func (f Finding) Again(above Finding) bool {
	return f.Follows != nil && above.Follows != nil && f.Follows.Same && *f.Follows == *above.Follows
}

// place is where the cause is, as seen from a file: "in line 44".
func (c *Cause) place(from string) string {
	switch {
	case c.File == "" || c.Line == 0:
		return ""
	case c.File == from:
		return fmt.Sprintf("in line %d", c.Line)
	}
	return fmt.Sprintf("in line %d of %s", c.Line, path.Base(filepath.ToSlash(c.File)))
}

// The rules as causes and consequences know them.
var (
	// placed rules are about where work goes: what is in the wrong stream is out of order there as well.
	placed = []string{"wrong-stream", "reset-too-early", "synchronous-free"}
	// misused rules are about memory that a call may not touch.
	misused = []string{"out-of-bounds", "unmapped", "no-access", "not-mapped"}
	// disordered rules are about accesses that nothing holds in order: what comes out is luck.
	disordered = []string{"use-before-alloc", "use-after-free", "free-before-use", "revoke-before-use", "early-reuse",
		"overlapping-copy", "data-race", "host-race", "staged-copy", "uninitialized-read"}
	// ended rules are about code that did not come to its end.
	ended = []string{"panic", "crash", "timeout", "deadlock", "endless-recursion", "endless-calls", "host-memory",
		"memory-limit", "device-lost"}
	// divided rules are about how an allocator has cut its memory.
	divided = []string{"wrong-root", "overlap", "misaligned", "outside", "beyond-end", "wrong-block", "moved",
		"wrong-class", "misplaced"}
	// accepted rules are about a Free that an allocator should have refused: from then on two owners have one block.
	accepted = []string{"invalid-free-accepted", "double-free-accepted"}
	// needless rules are of a call that should not be made at all.
	needless = []string{"cuda-call", "waits-too-long", "host-wait", "event-count", "synchronous-allocation"}
	// results are about what came out.
	results = []string{"wrong-result", "wrong-words", "clock-misses-work", "lost", "overwritten", "result-changed",
		"wrong-when-timed", "not-computed",
		"step-left-out", "wrong-slot"}
)

// consequences are, by rule, the rules that it comes of where both are found in one program: mending those mends it as
// well, as a rule.
var consequences = map[string][]string{
	"wrong-gaps":             {"changed-by-error", "wrong-account"},
	"wrong-class":            {"block-refused"},
	"misaligned":             {"wrong-in-use"},
	"not-usable-after-error": slices.Concat(accepted, divided),
	"wrong-result": slices.Concat(placed, misused, disordered, []string{"step-left-out", "overlap",
		"unexpected-error"}),
	"wrong-words":       slices.Concat(placed, misused, disordered),
	"clock-misses-work": slices.Concat(placed, misused, disordered, []string{"wrong-words"}),
	"lost":              slices.Concat(misused, disordered, []string{"misplaced", "unmapped"}),
	"overwritten":       slices.Concat(placed, misused, disordered, divided, accepted, []string{"cuda-call"}),
	"result-changed":    slices.Concat(placed, disordered),
	"wrong-when-timed":  slices.Concat(placed, misused, disordered, divided),
	"overlap-lost":      slices.Concat(placed, disordered),
	"data-race": slices.Concat(placed, []string{"wait-unrecorded", "overlap", "misplaced"}, accepted,
		divided),
	"overlapping-copy":  {"misplaced"},
	"free-before-use":   slices.Concat(placed, []string{"wait-unrecorded", "unmapped"}, accepted, divided),
	"use-before-alloc":  slices.Concat(placed, []string{"wait-unrecorded"}),
	"early-reuse":       slices.Concat(placed, []string{"wait-unrecorded"}, accepted, divided),
	"use-after-free":    slices.Concat(placed, []string{"double-free", "free-before-use"}, accepted, divided),
	"use-after-destroy": {"forgotten-stream"},
	"freed-too-early":   {"early-reuse"},
	"out-of-bounds":     {"no-access", "not-mapped", "argument-changed"},
	"uninitialized-read": slices.Concat(placed, misused, []string{"misplaced", "data-race", "use-before-alloc",
		"use-after-free", "free-before-use", "step-left-out"}),
	"device-lost": slices.Concat(misused, disordered, []string{"use-after-destroy", "wrong-stream",
		"double-free", "invalid-free"}),
	"driver-crash": slices.Concat(misused, disordered, []string{"use-after-destroy", "double-free",
		"invalid-free"}),
	"panic": slices.Concat([]string{"overlap", "double-free"}, accepted, divided),
	"leak": slices.Concat(ended, []string{"unexpected-error", "double-free", "invalid-free",
		"works-after-close", "close-refused", "typed-nil-error", "lying-error"}),
	"unexpected-error": slices.Concat(misused, []string{"good-argument-refused", "use-after-destroy",
		"device-lost", "double-free", "invalid-free", "device-ignored", "used-after-close"}),
	"full-too-early":     slices.Concat(divided, []string{"panic"}, accepted),
	"wrong-largest-free": slices.Concat(divided, []string{"full-too-early", "too-little", "panic"}),
	"wrong-free-blocks": slices.Concat(divided, []string{"full-too-early", "wrong-largest-free", "too-little",
		"panic"}),
	"outside":           {"wrong-root", "wrong-in-use", "wrong-chunk", "works-after-close", "cuda-call"},
	"overlap":           slices.Concat(accepted, []string{"wrong-root", "beyond-end", "misaligned", "wrong-in-use"}),
	"misplaced":         {"moved"},
	"beyond-end":        {"wrong-root"},
	"bad-size-accepted": {"wrong-root"},
	"host-touch":        {"synchronous-allocation"},
	"pageable-copy":     {"host-touch"},
	"host-wait":         {"synchronous-allocation"},
	"not-touched":       {"wrong-size"},
	"block-count":       {"wrong-stream"},
	"error-ignored":     {"work-calls", "independent-calls"},
	"step-left-out":     {"host-wait"},
	"wrong-total":       {"misaligned"},
	"left-out":          {"no-root"},
	"wrong-slot":        {"argument-changed"},
	"too-little":        slices.Concat(divided, []string{"panic"}),
	"too-much":          {"unexpected-error"},
	"no-fallback":       {"unexpected-error", "growth-failed", "changed-by-error"},
	"growth-failed":     {"not-reserved"},
	"refused":           {"not-reserved", "invalid-free"},
	"invalid-free":      {"not-reserved", "double-free"},
	"free-refused":      slices.Concat(divided, accepted),
	"double-free":       {"works-after-close", "not-reserved"},
	"inner-not-asked":   {"called-early", "changed-by-error"},
	"changed-by-error":  {"unexpected-error"},
	"wrong-stats":       slices.Concat(divided, []string{"unexpected-error", "panic", "block-refused"}, accepted),
	"wrong-account":     {"overlap"},
	"wrong-groups":      {"wrong-account"},
	"left-behind":       {"overlap", "room-lost"},
	"wrapped":           {"room-lost", "overlap"},
	"kept":              {"sampled-early", "leak", "error-ignored"},
	"not-called":        {"wrong-error"},
	"wrong-error": {"bad-argument-accepted", "use-after-destroy", "changed-by-error", "block-refused",
		"full-too-early", "unexpected-error", "beyond-the-range"},
}

// ofMemory are the rules that memory breaks, one or the other, which is there from an earlier call.
var ofMemory = slices.Concat(placed, misused, disordered, ended, results, EndRules)

// ofGiven are the rules that a call breaks, or makes others break, which was given something else than it should have
// been.
var ofGiven = slices.Concat(results, []string{"uninitialized-read", "overlap-lost", "device-lost",
	"clocked-too-little", "wrong-time"})

// alike are rules that one mistake breaks together: which of them is told first is of the order in which is asked.
var alike = [][]string{
	// what threads get that share a word, and what that costs them
	{"overlap", "beyond-end", "room-lost", "left-behind", "not-in-a-row", "wrapped", "unaligned", "empty-block",
		"offset-missing", "too-many-atomics"},
	// which bytes a pool takes for an Alloc, and what that costs
	{"early-reuse", "room-refused", "needless-growth", "needless-wait", "waits-before-growing", "gives-back-used",
		"freed-too-early", "wrong-chunk", "wrong-stats"},
	// what is on the books of an allocator, and what it does by them
	{"wrong-account", "wrong-groups", "called-early", "called-again", "not-called", "not-retried", "earlier-function",
		"asked-inner"},
	// where an arena grows, and by how much
	{"device-ignored", "moved", "copied", "cuda-call", "not-mapped"},
	{"wrong-granularity", "not-rounded"},
	{"beyond-the-range", "block-refused"},
	// what a clock shows
	{"round-count", "clocked-too-much", "clocked-too-little", "wrong-time", "overlap-lost", "wrong-pass"},
	// which pool is worked with
	{"not-yours", "no-pool", "several-pools", "threshold", "late-threshold", "wrong-pool", "default-pool-changed",
		"block-count", "pool-grows", "invented", "wrong-report", "wrong-sample", "mark-not-reset", "reuse-unknown",
		"wrong-trim", "kept"},
}

// onError is what the rules of faults end in: the same, but only where a CUDA call was made to fail.
const onError = "-on-error"

// Relate notes in the errors of a report which of them come of others, so that a report says first what is to be mended
// first, and each mistake once. An error that says the same as one before is the same one again; so is one with the
// same rule and the same remedy in another line. A cause may stand in a later check than what comes of it.
func Relate(checks []Check) {
	withhold(checks)
	var all []*Finding
	for i := range checks {
		for j := range checks[i].Findings {
			if f := &checks[i].Findings[j]; f.Severity == Error {
				all = append(all, f)
			}
		}
	}
	for _, f := range all {
		if f.Follows != nil {
			f.Follows = f.named(all)
		}
	}
	if kept := slices.IndexFunc(all, func(f *Finding) bool { return f.Kept }); kept >= 0 {
		for i, f := range all {
			// What a call was given it was given whatever an earlier one has left.
			if i != kept && (f.Kept || !f.Given && slices.Contains(ofMemory, f.Rule)) {
				f.Follows = all[kept].AsCause()
			}
		}
	}
	for i, f := range all {
		if f.Follows != nil {
			continue
		}
		if same := slices.IndexFunc(all[:i], f.repeats); same >= 0 {
			f.Follows = all[same].AsCause()
			f.Follows.Same = true
		}
	}
	for i, f := range all {
		if f.Follows == nil {
			f.Follows = nearest(i, all)
		}
	}
	for _, f := range all {
		f.toTheRoot(all)
	}
	for _, c := range checks { // what is to be mended first stands first
		slices.SortStableFunc(c.Findings, func(a, b Finding) int { return cmp.Compare(a.turn(), b.turn()) })
	}
}

// named is the cause that the judge has named, which may have named the rule alone: where it was broken is known by
// now. It is nil where the report has none.
func (f *Finding) named(all []*Finding) *Cause {
	at := slices.IndexFunc(all, f.Follows.is)
	if at < 0 {
		at = slices.IndexFunc(all, func(o *Finding) bool { return o.Rule == f.Follows.Rule })
	}
	if at < 0 || all[at].comesOf(f, all) {
		return nil
	}
	return all[at].AsCause()
}

// comesOf reports whether an error is another one, or comes of it by way of others.
func (f *Finding) comesOf(o *Finding, all []*Finding) bool {
	for range all {
		if f == o || f.Follows == nil || f.Follows.is(o) {
			return f == o || f.Follows != nil
		}
		next := slices.IndexFunc(all, f.Follows.is)
		if next < 0 {
			return false
		}
		f = all[next]
	}
	return true
}

// withhold leaves out remarks whose advice an error forbids: that a wait orders nothing, where work is out of order and
// it may be the wait that was to order it; that the host should wait, where it waits already and must not.
func withhold(checks []Check) {
	broken := func(rules []string) bool {
		return slices.ContainsFunc(checks, func(c Check) bool {
			return slices.ContainsFunc(c.Findings, func(f Finding) bool {
				return f.Severity == Error && slices.Contains(rules, f.Rule)
			})
		})
	}
	var out []string
	if broken(OrderRules) {
		out = append(out, "needless-wait")
	}
	if broken([]string{"host-wait", "synchronous-allocation"}) {
		out = append(out, "free-before-use"+onError, "free-while-pending")
	}
	for i := range checks {
		checks[i].Findings = slices.DeleteFunc(checks[i].Findings, func(f Finding) bool {
			return f.Severity == Remark && slices.Contains(out, f.Rule)
		})
	}
}

// repeats reports whether an error says once more what another one says: its rule, with the same remedy, or an error
// that the same
// statement returns.
func (f *Finding) repeats(o *Finding) bool {
	return o.Rule == f.Rule && o.Fix == f.Fix || f.Look.Got != "" && o.Look.Got == f.Look.Got && o.File == f.File &&
		o.Line == f.Line
}

// turn is when a finding is to be read: consequences behind the errors that they may come of.
func (f Finding) turn() int {
	if f.Severity == Error && f.Follows != nil && !f.Follows.Same {
		return 1
	}
	return 0
}

// nearest is the cause of the j-th error among all: where there are several, one on the same line, else the first.
func nearest(j int, all []*Finding) *Cause {
	var cause *Finding
	f := all[j]
	for i, o := range all {
		if o.Kept && f.Given || o.comesOf(f, all) ||
			!causes(o.Rule, f.Rule) && !o.spares(f) && !o.gives(f) && !o.fails(f) &&
				!(i < j && (o.shares(f) || o.akin(f) || o.meets(f))) {
			continue
		}
		if cause == nil || cause.Line != f.Line && o.Line == f.Line {
			cause = o
		}
	}
	if cause == nil {
		return nil
	}
	return cause.AsCause()
}

// causes reports whether an error of one rule makes for one of another.
func causes(rule, consequence string) bool {
	if rule+onError == consequence {
		return true
	}
	base, afterError := strings.CutSuffix(consequence, onError)
	if afterError {
		rule = strings.TrimSuffix(rule, onError)
	}
	return slices.Contains(consequences[base], rule)
}

// spares reports whether another error is about a call that should not be made at all, or shows where that fails.
func (f *Finding) spares(o *Finding) bool {
	if !slices.Contains(needless, f.Rule) {
		return false
	}
	return !slices.Contains(needless, o.Rule) && slices.Contains(OrderRules, o.Rule) && f.File == o.File &&
		f.Line == o.Line || o.Fault.Line > 0 && f.File == o.Fault.File && f.Line == o.Fault.Line
}

// akin reports whether two errors are of rules that one mistake breaks together, or of one rule without a statement
// that tells them apart.
func (f *Finding) akin(o *Finding) bool {
	return f.Rule == o.Rule && !f.ofStatement() && !o.ofStatement() ||
		slices.ContainsFunc(alike, func(rules []string) bool {
			return slices.Contains(rules, f.Rule) && slices.Contains(rules, o.Rule)
		})
}

// shares reports whether two errors are of the same statement, be it that the calls which they are about stand there:
// one statement has one mistake, as a rule. What is left is told where it was made, and comes of another.
func (f *Finding) shares(o *Finding) bool {
	return f.Rule != "leak" && o.Rule != "leak" && f.ofStatement() && o.ofStatement() && f.File == o.File &&
		f.Line == o.Line
}

// meets reports whether an error says of a call that it is out of order which another error is about as the other of
// two.
func (f *Finding) meets(o *Finding) bool {
	ordered := func(rule string) bool { return slices.Contains(OrderRules, strings.TrimSuffix(rule, onError)) }
	return ordered(f.Rule) && ordered(o.Rule) && f.Line > 0 && f.File == o.With.File && f.Line == o.With.Line
}

// ofStatement reports whether an error is told at the statement that it is about, and not where the function begins or
// returns.
func (f *Finding) ofStatement() bool {
	return f.Line > 0 && (f.Record >= 0 || f.Look.Line > 0 || slices.Contains(ended, f.Rule))
}

// gives reports whether another error is of a call that was given what it should not be: what else is wrong on its
// line, or comes out
// wrong, is of that.
func (f *Finding) gives(o *Finding) bool {
	return f.Given && !o.Given && (slices.Contains(ofGiven, o.Rule) || f.File == o.File && f.Line == o.Line)
}

// fails reports whether an error is about the call that another error says has failed. Nothing fails by being out of
// order.
func (f *Finding) fails(o *Finding) bool {
	return o.Failed && !f.Failed && f.Record >= 0 && f.File == o.File && f.Line == o.Line &&
		!slices.Contains(disordered, f.Rule) && f.Rule != "leak"
}

// is reports whether a finding is the cause.
func (c *Cause) is(f *Finding) bool { return c.Rule == f.Rule && c.File == f.File && c.Line == f.Line }

// AsCause is the finding as what another one comes of.
func (f *Finding) AsCause() *Cause { return &Cause{Rule: f.Rule, File: f.File, Line: f.Line} }

// toTheRoot has a finding that comes of one that comes of another come of the latter.
func (f *Finding) toTheRoot(all []*Finding) {
	for range all {
		if f.Follows == nil {
			return
		}
		next := slices.IndexFunc(all, f.Follows.is)
		if next < 0 || all[next] == f || all[next].Follows == nil {
			return
		}
		same := f.Follows.Same && all[next].Follows.Same
		*f.Follows = *all[next].Follows
		f.Follows.Same = same
	}
}

// The order checker's rules, as checks group them: when memory may be used, and that everything made comes to an end.
var (
	OrderRules = []string{"use-before-alloc", "use-after-free", "free-before-use", "revoke-before-use", "early-reuse",
		"overlapping-copy", "data-race", "host-race", "staged-copy",
		"uninitialized-read", "out-of-bounds", "wait-unrecorded", "use-after-destroy"}
	EndRules = []string{"leak", "double-free", "invalid-free"}
)

// HasError reports whether one of the findings fails its check.
func HasError(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == Error })
}

// Count is a number of things: "1 batch", "5 batches".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
