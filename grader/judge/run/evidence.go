package run

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cudalab/grader/judge/visible"
	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// ordered are the order checker's findings in a case, which do not advise what the lesson forbids there.
func (c *checking) ordered(notes *verdict.CaseNotes) []verdict.Finding {
	look := order.Check
	if slices.ContainsFunc(c.Suite.Checks, func(q suite.Question) bool {
		return q.Unwaited && slices.Contains(q.Needs, notes.ID)
	}) {
		look = order.CheckUnwaited
	}
	return c.findings(look(notes.Trace), notes.Trace)
}

// findings gives the order checker's findings their lines.
func (c *checking) findings(found []order.Finding, t *trace.Trace) []verdict.Finding {
	var fs []verdict.Finding
	calls := sync.OnceValue(func() []int { return (&verdict.CaseNotes{Trace: t}).CallsOfRecords() })
	for _, o := range found {
		f := verdict.Finding{Rule: o.Rule, Severity: verdict.Error, Message: o.Message, Why: o.Why, Fix: o.Fix, Record: o.At,
			Picture: order.Picture(t, o)}
		if o.Severity == order.Remark {
			f.Severity = verdict.Remark
			if weight, otherwise := c.Suite.Remarks[o.Rule]; otherwise {
				f.Severity = weight
			}
		}
		if f.Severity == "" {
			continue
		}
		var site trace.Site
		if o.At >= 0 && o.At < len(t.Records) {
			site = t.SiteOf(&t.Records[o.At])
		}
		own := len(c.locate.places(site)) > 0
		if !own && o.Rule == order.UseAfterDestroy {
			continue // the grader's own call: that the student destroyed what was lent is told as such
		}
		if first := o.Follows; first != nil && f.Severity == verdict.Error {
			at := first.At
			if first.Cause != nil {
				at = first.Cause.At
			}
			cause := c.locate.at(verdict.Finding{Rule: first.Rule}, t.SiteOf(&t.Records[at]))
			f.Follows = cause.AsCause()
		}
		f = c.locate.at(f, site)
		if f.Severity == verdict.Error && own {
			f = c.kept(f, o, t, calls())
		}
		f = c.causeOf(f, o, t)
		for _, rel := range o.Related {
			places := c.locate.places(t.SiteOf(&t.Records[rel.At]))
			if len(places) == 0 {
				if o.Rule == order.UseAfterDestroy { // it was lent
					f.Fix = "Whoever lent it may destroy it, so do not keep it for later: what was recorded in an event lives on " +
						"there, for cuda.EventQuery and cuda.StreamWaitEvent."
				}
				continue
			}
			p := places[0]
			if f.With.Line == 0 {
				f.With = p
			}
			if !own { // the grader's own call came to harm by the student's: the student's line is the one at fault
				f.File, f.Line, own = p.File, p.Line, true
				f.Message += " That call is made by the caller of your code, and this line of yours is what it meets: " +
					rel.Note + "."
				continue
			}
			f.Related = append(f.Related, verdict.Related{File: p.File, Line: p.Line, Message: rel.Note})
		}
		if own {
			fs = append(fs, c.named(f, o, t))
		}
	}
	return fs
}

// causeOf is the finding as told on the line of the student's call that it comes of, where the order checker knows
// that.
func (c *checking) causeOf(f verdict.Finding, o order.Finding, t *trace.Trace) verdict.Finding {
	if o.Cause == nil || f.File == "" {
		return f
	}
	places := c.locate.places(t.SiteOf(&t.Records[o.Cause.At]))
	if len(places) == 0 {
		return f
	}
	effect := verdict.Related{File: f.File, Line: f.Line, Message: "what comes of it"}
	f.Message, f.Fix = o.Cause.What+comesOfIt+uncapital(f.Message), o.Cause.Fix
	f.Related = nil
	f = c.locate.at(f, t.SiteOf(&t.Records[o.Cause.At]))
	f.Effect = effect.Line
	if effect.File != f.File || effect.Line != f.Line {
		f.Related = append([]verdict.Related{effect}, f.Related...)
	}
	return f
}

// eventOf is which argument of a call its event is.
var eventOf = map[trace.Op]int{trace.OpEventRecord: 0, trace.OpStreamWaitEvent: 1}

// named is a finding in which events have the names that they have in the code, where calls of it name them.
func (c *checking) named(f verdict.Finding, o order.Finding, t *trace.Trace) verdict.Finding {
	if c.Argument == nil {
		return f
	}
	about := []int{o.At}
	if o.Cause != nil {
		about = append(about, o.Cause.At)
	}
	for _, r := range o.Related {
		about = append(about, r.At)
	}
	told := map[trace.ID]bool{}
	for _, at := range about {
		r := &t.Records[at]
		i, ok := eventOf[r.Op]
		places := c.locate.places(t.SiteOf(r))
		if !ok || told[r.Event] || len(places) == 0 {
			continue
		}
		name := c.Argument(places[0].File, places[0].Line, r.Op.String(), i)
		if name == "" {
			continue
		}
		told[r.Event] = true
		event := regexp.MustCompile(fmt.Sprintf(`\b[Ee]vent %d\b`, r.Event))
		say := func(text string) string {
			return event.ReplaceAllStringFunc(text, func(it string) string { return it + " (" + visible.Line(name) + ")" })
		}
		f.Message, f.Fix = say(f.Message), say(f.Fix)
		for k := range f.Related {
			f.Related[k].Message = say(f.Related[k].Message)
		}
	}
	return f
}

// comesOfIt leads from a cause to its effect.
const comesOfIt = " What comes of it: "

// uncapital is a sentence as it stands behind a colon.
func uncapital(s string) string {
	if rest, ok := strings.CutPrefix(s, "The "); ok {
		return "the " + rest
	}
	return s
}

// kept tells a fault in memory that an earlier call of the code has allocated as what it comes of, where that is a
// function: nothing of
// one call is there in the next, but by a variable of the package. Methods have their receiver for that.
func (c *checking) kept(f verdict.Finding, o order.Finding, t *trace.Trace, calls []int) verdict.Finding {
	used := c.locate.places(t.SiteOf(&t.Records[o.At]))
	if len(used) > 0 && c.earlier(&t.Records[o.At], t) {
		return c.keptBy(f, used[len(used)-1].Func)
	}
	for _, r := range o.Related {
		made := c.locate.places(t.SiteOf(&t.Records[r.At]))
		if !suite.Allocates(t.Records[r.At].Op) || len(made) == 0 || len(used) == 0 || calls[r.At] == calls[o.At] ||
			min(calls[r.At], calls[o.At]) < 0 {
			continue
		}
		return c.keptBy(f, used[len(used)-1].Func)
	}
	return f
}

func (c *checking) keptBy(f verdict.Finding, function string) verdict.Finding {
	if strings.Contains(function, ".") {
		return f
	}
	f.Kept = true
	f.Message = fmt.Sprintf("The memory that %s uses here was allocated by an earlier call, and kept in a variable of "+
		"the package.%s%s",
		function, comesOfIt, uncapital(f.Message))
	f.Why = "A variable of the package lives on when the function has returned: the next call finds in it what " +
		"belonged to another one."
	f.Fix = "Keep what belongs to a call in variables of the function, and allocate it anew in each call."
	return f
}

// earlier reports whether a record names memory that is none of its trace's, but was allocated by the student's code
// in a case before.
func (c *checking) earlier(r *trace.Record, t *trace.Trace) bool {
	var stray []uint64
	if r.Alloc == 0 && r.Addr != 0 && (r.Op == trace.OpFree || r.Op == trace.OpFreeAsync) {
		stray = append(stray, r.Addr)
	}
	for _, a := range r.Accesses {
		if a.Alloc == 0 && a.Offset != 0 {
			stray = append(stray, uint64(a.Offset))
		}
	}
	if len(stray) == 0 {
		return false
	}
	for _, before := range c.inOrder() {
		if before.notes.Trace == t {
			continue
		}
		for i := range before.notes.Trace.Records {
			m := &before.notes.Trace.Records[i]
			made := suite.Allocates(m.Op) && m.Code == 0 && slices.ContainsFunc(stray,
				func(at uint64) bool { return m.Addr <= at && at < m.Addr+uint64(m.Size) })
			if made && len(c.locate.places(before.notes.Trace.SiteOf(m))) > 0 {
				return true
			}
		}
	}
	return false
}

// placed gives findings about a wrong answer the statement that it comes of, and those that are about no line the
// first line of the
// function they are about.
func (c *checking) placed(found []verdict.Finding) []verdict.Finding {
	for i := range found {
		f := &found[i]
		function := cmp.Or(f.Function, c.Suite.Functions[0])
		if !f.Look.Known() && f.File != "" && f.Line != c.Functions[function].Line {
			continue // it has a line of its own
		}
		if at, what, ok := c.statement(function, f.Look); ok {
			if f.Effect = cmp.Or(f.Effect, f.Line); f.File == "" {
				f.Effect = c.Functions[function].Line
			}
			f.File, f.Line = at.File, at.Line
			f.Message += " " + what
		} else if f.File == "" {
			at := c.Functions[function]
			f.File, f.Line = at.File, at.Line
		}
	}
	return found
}

// statement is where an answer of a function's comes of, if that is known.
func (c *checking) statement(function string, look verdict.Look) (at verdict.Place, what string, ok bool) {
	if look == (verdict.Look{}) || c.Statements == nil {
		return verdict.Place{}, "", false
	}
	return c.Statements(function, look)
}

// evidence is what checks judge by.
func (c *checking) evidence() *suite.Evidence {
	e := &suite.Evidence{Seed: c.Seed, Device: c.report.Device, Place: c.locate.places,
		Cases: map[string]*verdict.CaseNotes{}, Translation: c.Translation,
		Relate: func(t *trace.Trace) suite.Relation { return order.Of(t) }}
	for id, run := range c.runs {
		e.Cases[id] = run.notes
	}
	return e
}
