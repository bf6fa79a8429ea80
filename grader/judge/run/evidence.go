package run

import (
	"cmp"

	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// findings gives the order checker's findings their lines.
func (c *checking) findings(found []order.Finding, t *trace.Trace) []verdict.Finding {
	var fs []verdict.Finding
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
		f = c.locate.at(f, site)
		for _, rel := range o.Related {
			places := c.locate.places(t.SiteOf(&t.Records[rel.At]))
			if len(places) == 0 {
				if o.Rule == order.UseAfterDestroy { // it was lent
					f.Fix = "Whoever lent it may destroy it, so do not keep it for later: what was recorded in an event lives on there, for cuda.EventQuery and " +
						"cuda.StreamWaitEvent."
				}
				continue
			}
			p := places[0]
			if !own { // the grader's own call came to harm by the student's: the student's line is the one at fault
				f.File, f.Line, own = p.File, p.Line, true
				f.Message += " That call is made by the caller of your code; yours is this one: " + rel.Note + "."
				continue
			}
			f.Related = append(f.Related, verdict.Related{File: p.File, Line: p.Line, Message: rel.Note})
		}
		if own {
			fs = append(fs, f)
		}
	}
	return fs
}

// placed gives findings that are about no line the first line of the function they are about.
func (c *checking) placed(found []verdict.Finding) []verdict.Finding {
	for i := range found {
		if f := &found[i]; f.File == "" {
			at := c.Functions[cmp.Or(f.Function, c.Suite.Functions[0])]
			f.File, f.Line = at.File, at.Line
		}
	}
	return found
}

// evidence is what checks judge by.
func (c *checking) evidence() *suite.Evidence {
	e := &suite.Evidence{Seed: c.Seed, Device: c.report.Device, Place: c.locate.places, Cases: map[string]*verdict.CaseNotes{},
		Relate: func(t *trace.Trace) suite.Relation { return order.Of(t) }}
	for id, run := range c.runs {
		e.Cases[id] = run.notes
	}
	return e
}
