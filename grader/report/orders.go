package report

import (
	"fmt"
	"io"
	"math/big"
	"strings"

	"cudalab/grader/judge/prove"
	"cudalab/grader/suite/verdict"
)

// faultsShown is how many orders in which it goes wrong are told in full.
const faultsShown = 3

// Orders writes for a person what CUDA's other orders of the recorded work would have come to. It is for a report of
// code that was run.
func Orders(w io.Writer, proof *prove.Proof, o Options) error {
	p := newPrinter(proof.Report, o)
	p.headline()
	switch {
	case len(proof.Differs) > 0:
		p.block(0, "", "cudalab contradicts itself: it found nothing out of order in "+strings.Join(proof.Differs, ", ")+
			", but another order of "+
			"that work gave something else. Please report it, with your code and the seed.", p.palette.bad)
	case len(proof.Faults) > 0:
		p.badOrders(proof)
	case len(proof.Cases) == 0:
		p.block(0, "", "There is no work on the device yet that could come in another order.", plain)
	default:
		p.goodOrders(proof)
	}
	if proof.Report.Status != verdict.Passed && len(proof.Faults) == 0 || proof.Others > 0 {
		p.line("")
		p.block(0, "", "There are errors that no order is to blame for: `cudalab check "+proof.Report.Exercise+
			"` tells them.", plain)
	}
	if proof.Asks != nil {
		p.line("")
		p.block(0, "", "Your code asks the device how far it is, and may do something else with another answer. This is "+
			"about the answers that it got this time. It asks at", plain)
		p.line(p.place(proof.Asks.File, proof.Asks.Line))
	}
	_, err := w.Write(p.text.Bytes())
	return err
}

// goodOrders says how many orders there are, all of which come to the same.
func (p *printer) goodOrders(proof *prove.Proof) {
	p.block(0, "", "CUDA does the work of one stream in order. Of work in several streams it may do any first, unless an "+
		"event or a wait of yours says otherwise. In so many orders your code may run, and in each of them it gives the "+
		"same results:", plain)
	p.line("")
	several := false
	rows := [][3]string{{"case", "operations", "orders"}}
	for _, c := range proof.Cases {
		if c.Orders.Operations == 0 {
			continue
		}
		tried := fmt.Sprintf("%d of them tried", c.Tried)
		switch {
		case c.Orders.Count.Cmp(big.NewInt(1)) == 0:
			tried = ""
		case c.All:
			tried = "all of them tried"
		}
		several = several || tried != ""
		rows = append(rows, [3]string{c.ID, fmt.Sprint(c.Orders.Operations), strings.TrimRight(c.Orders.String()+", "+tried,
			", ")})
	}
	if len(rows) > 1 {
		p.columns(rows)
		p.line("")
	}
	if !several {
		p.block(0, "", "Nothing is left to CUDA there: all work is in one stream, or each call waits for the one before.",
			plain)
		return
	}
	p.block(0, "", "That the others come to the same as well follows from what they have in common: of any two "+
		"operations that use the same bytes, one of which writes them, your streams, events and waits say which comes first.",
		plain)
	p.line("")
	p.line(p.palette.good("PROVEN") + "  no order of this work goes wrong.")
}

// columns is a table with its second column to the right.
func (p *printer) columns(rows [][3]string) {
	var first, second int
	for _, r := range rows {
		first, second = max(first, len(r[0])), max(second, len(r[1]))
	}
	for i, r := range rows {
		line := fmt.Sprintf("  %-*s  %*s  %s", first, r[0], second, r[1], r[2])
		if i == 0 {
			line = p.palette.dim(line)
		}
		p.line(clip(line, p.width))
	}
}

// badOrders tells orders in which it goes wrong, step by step.
func (p *printer) badOrders(proof *prove.Proof) {
	for i := range proof.Faults {
		if i == faultsShown {
			break
		}
		if i > 0 {
			p.line("")
		}
		p.badOrder(&proof.Faults[i])
	}
	if more := len(proof.Faults) - faultsShown; more > 0 {
		p.line("")
		p.block(0, "", fmt.Sprintf("%d more like these, elsewhere in the code, are left out. Mend these first.", more), plain)
	}
	p.line("")
	p.block(0, "", "With --film it shows the first of them frame by frame.", p.palette.dim)
	p.line("")
	p.line(p.palette.bad("REFUTED") + "  CUDA may choose an order in which this goes wrong.")
}

func (p *printer) badOrder(f *prove.Fault) {
	p.finding(verdict.Finding{Rule: f.Finding.Rule, Severity: verdict.Error, Message: f.Finding.Message, File: f.At.File,
		Line: f.At.Line})
	p.line("")
	text := "It may have gone well just now. In this order, which CUDA may choose as well, it does not. The numbers are " +
		"the order of your calls:"
	if f.Always {
		text = "It goes wrong in the order of your calls already:"
	}
	p.block(indent, "", text, plain)
	p.line("")
	for k, s := range f.Steps {
		call, style := s.Call, plain
		if s.Wrong != "" {
			call, style = call+": "+s.Wrong, p.palette.bad
		}
		p.block(indent+2, fmt.Sprintf("%d  ", s.N), call, style)
		if s.At.File != "" && (k == 0 || f.Steps[k-1].At != s.At) {
			p.quote(indent+3, s.At.File, s.At.Line)
		}
	}
	if f.Ends != "" {
		p.block(indent+2, "", f.Ends, p.palette.bad)
	}
	p.line("")
	p.block(indent, "Fix: ", f.Finding.Fix, p.palette.bold)
}
