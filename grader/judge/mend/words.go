package mend

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"unicode"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Where is what is told first: the place, and what would be right.
func (c *Cause) Where() string {
	one, two := "One change", "Two changes"
	if c.With != "" {
		one, two = c.With+", one change", c.With+", two changes"
	}
	if c.second != nil {
		return fmt.Sprintf("%s, in line %d and in line %d, are enough for %s.", two, c.Place.Line, c.second.line(),
			quoted(c.Check.Name))
	}
	return fmt.Sprintf("%s in line %d, in %s, is enough for %s.", one, c.Place.Line, c.Place.Func, quoted(c.Check.Name))
}

func quoted(claim string) string { return "“" + claim + "”" }

// Question asks about the part that is to be changed. It has no name or number of the edit in it; "" where the edits
// that were found are not about the same part.
func (c *Cause) Question() string {
	if c.Apart {
		return ""
	}
	question := c.question()
	if c.second != nil {
		question += " And in the other line: " + (&Cause{Edit: &Edit{candidate: c.second}}).question()
	}
	for _, w := range c.news() {
		if slices.Contains(strings.FieldsFunc(question, notInName), w) {
			return "What is this line to do?"
		}
	}
	return question
}

func notInName(r rune) bool {
	return r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// news are the names and numbers of an edit that are not in what it changes.
func (c *Cause) news() (all []string) {
	was, now := c.Lines()
	before := strings.FieldsFunc(strings.Join(was, " "), notInName)
	for _, w := range strings.FieldsFunc(strings.Join(now, " "), notInName) {
		if !slices.Contains(before, w) {
			all = append(all, w)
		}
	}
	return all
}

func (c *Cause) question() string {
	ch := c.changes[0]
	switch {
	case c.what == "order" || c.what == "swap of statements":
		return "When is this to be done: earlier, or later?"
	case c.what == "needless" || c.what == "deletion":
		return "Is this to be done at all?"
	case ch.From == ch.To && c.what != "argument":
		return missing(ch.Text)
	}
	var call *ast.CallExpr
	question := ""
	ast.PreorderStack(c.function.decl.Body, nil, func(n ast.Node, stack []ast.Node) bool {
		if n.Pos() > ch.From || ch.To > n.End() {
			return false
		}
		switch n := n.(type) {
		case *ast.ValueSpec:
			question = "Which value is this, and what is it for?"
		case *ast.IfStmt:
			if n.Cond.Pos() <= ch.From && ch.To <= n.Cond.End() {
				question = "When exactly is this so, and when not?"
			}
		case *ast.ForStmt:
			if n.Cond != nil && n.Cond.Pos() <= ch.From && ch.To <= n.Cond.End() {
				question = "How often does this go round, and when does it end?"
			}
		case *ast.RangeStmt:
			if n.X.Pos() <= ch.From && ch.To <= n.X.End() {
				question = "For which of them is this to be done?"
			}
		case *ast.ReturnStmt:
			question = "What is to be answered here?"
		case *ast.AssignStmt, *ast.IncDecStmt:
			question = "What is to be remembered here?"
		case *ast.CallExpr:
			call = n
			for i, a := range n.Args {
				if a.Pos() <= ch.From && ch.To <= a.End() {
					if asked := c.argument(n, i); asked != "" {
						question = asked
					}
				}
			}
		case *ast.IndexExpr:
			if n.Index.Pos() <= ch.From && ch.To <= n.Index.End() {
				question = "Which of them is it?"
			}
		}
		return true
	})
	if question == "" && call != nil {
		question = "What is this call given, and what does it need?"
	}
	if question == "" {
		question = "What is this line to do?"
	}
	return question
}

// inBytes are the calls whose numbers of type int64 are of bytes.
var inBytes = []string{"cuda.Malloc", "cuda.MallocAsync", "cuda.MallocFromPoolAsync", "cuda.MallocHost", "cuda.Memset",
	"cuda.MemsetAsync", "cuda.MemcpyHtoD", "cuda.MemcpyDtoH", "cuda.MemcpyDtoD", "cuda.MemcpyHtoDAsync",
	"cuda.MemcpyDtoHAsync", "cuda.MemcpyDtoDAsync", "cuda.MemCreate", "cuda.MemMap", "cuda.MemUnmap", "cuda.MemSetAccess",
	"cuda.MemAddressReserve", "cuda.MemAddressFree"}

// argument asks about what a call is given.
func (c *Cause) argument(call *ast.CallExpr, i int) string {
	signature, ok := c.function.TypeOf(call.Fun).(*types.Signature)
	if !ok || signature.Params().Len() == 0 {
		return ""
	}
	p := signature.Params().At(min(i, signature.Params().Len()-1))
	name, of := strings.ToLower(p.Name()), p.Type().String()
	switch {
	case strings.HasSuffix(of, "cuda.Stream") && strings.HasSuffix(c.function.Text(call.Fun), "StreamWaitEvent"):
		return "Who is to wait here?"
	case strings.HasSuffix(of, "cuda.Stream"):
		return "Which of the streams is this for?"
	case strings.HasSuffix(of, "cuda.Event"):
		return "Which moment is meant here, and who has recorded it?"
	case strings.HasSuffix(of, "cuda.DevicePtr"):
		return "Where does this begin, and whose memory is it?"
	case strings.Contains(name, "grid"), strings.Contains(name, "block"):
		return "How many threads does this come to, and how many are needed?"
	case of == "int64" && slices.Contains(inBytes, c.function.Text(call.Fun)), strings.HasSuffix(name, "size"),
		strings.Contains(name, "bytes"):
		return "How many bytes is this, and how many are needed?"
	case name == "n", strings.HasPrefix(name, "count"):
		return "How many is this, and how many are needed?"
	case strings.Contains(of, "int"):
		return "Which number is this, and what is it counted in?"
	}
	return ""
}

// missing asks for what is put in.
func missing(text string) string {
	has := func(all ...string) bool {
		return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(text, s) })
	}
	switch {
	case has("StreamWaitEvent", "Synchronize", "EventQuery"):
		return "Who has to wait here before the work goes on, and for whom?"
	case has("EventRecord"):
		return "How would others know here that this work is done?"
	case has("Free(", "FreeAsync(", "Destroy(", "Release(", "Unmap(", "FreeHost("):
		return "What was made by now, and who gives it back?"
	case has("contract.Err"):
		return "What has to be refused here before anything is done?"
	case has("err != nil"):
		return "What if the call before this has failed?"
	case has("Memset"):
		return "What is in this memory before anybody writes to it?"
	}
	return "What has to be noted here for later?"
}

// Difference says in which run the code and the edited code differ, and how: the smallest case that decides.
func (c *Cause) Difference() string {
	if len(c.before) == 0 || len(c.after) == 0 {
		return ""
	}
	for i, m := range c.figures[0] {
		if len(c.figures[1]) == len(c.figures[0]) && m.Limit > 0 {
			return fmt.Sprintf("In the case %s, %s is %.3g %s, and with the change %.3g; the limit is %.3g.",
				quoted(c.before[0].ID), m.Name, m.Value, m.Unit, c.figures[1][i].Value, m.Limit)
		}
	}
	was, now := c.before[0], c.after[0]
	in := fmt.Sprintf("In the case %s ", quoted(was.ID))
	for i := range min(len(was.Trace.Records), len(now.Trace.Records)) {
		a, b := &was.Trace.Records[i], &now.Trace.Records[i]
		if said, other := told(was, i, c.touched(was, i)), told(now, i, c.touched(now, i)); said != other {
			if a.Op == trace.OpMark || b.Op == trace.OpMark {
				return in + fmt.Sprintf("your code makes %d CUDA calls and with the change %d: they part %s.", made(was), made(now),
					behind(was, i))
			}
			return in + fmt.Sprintf("the two part at the CUDA call number %d. Your code: %s. With the change: %s.",
				number(was, i), said, other)
		}
	}
	if a, b := made(was), made(now); a != b {
		return in + fmt.Sprintf("your code makes %d CUDA calls, and with the change it makes %d.", a, b)
	}
	for i := range min(len(was.Outcomes), len(now.Outcomes)) {
		if a, b := answer(was.Outcomes[i]), answer(now.Outcomes[i]); a != b {
			return in + fmt.Sprintf("for %q your code %s, and with the change it %s.", was.Outcomes[i].Label, a, b)
		}
	}
	return in + "both make the same CUDA calls; what the caller is told or given differs."
}

func answer(o verdict.Outcome) string {
	switch {
	case o.Panic != "":
		return "panics: " + o.Panic
	case o.Err != "":
		return "answers the error " + quoted(o.Err)
	}
	return "answers no error"
}

// made is how many calls of CUDA's a case has.
func made(c *verdict.CaseNotes) int { return number(c, len(c.Trace.Records)) - 1 }

// number is a record's number among the calls, from 1 on.
func number(c *verdict.CaseNotes, at int) int {
	n := 1
	for i := range at {
		r := &c.Trace.Records[i]
		if !slices.Contains([]trace.Op{trace.OpMark, trace.OpBlockAlloc, trace.OpBlockFree}, r.Op) && r.Phase != trace.Leave {
			n++
		}
	}
	return n
}

// behind says what comes before a record.
func behind(c *verdict.CaseNotes, at int) string {
	for i := at - 1; i >= 0; i-- {
		if r := &c.Trace.Records[i]; r.Op != trace.OpMark {
			return "behind " + suite.CallName(r)
		}
	}
	return "at the beginning"
}

// touched is what memory a call is about first.
func (c *Cause) touched(notes *verdict.CaseNotes, at int) string {
	r := &notes.Trace.Records[at]
	if len(r.Accesses) == 0 {
		return ""
	}
	a := r.Accesses[0]
	return fmt.Sprintf(" at byte %d of allocation %d", a.Offset, a.Alloc)
}

// told is a call in words.
func told(notes *verdict.CaseNotes, at int, where string) string {
	r := &notes.Trace.Records[at]
	if r.Op == trace.OpMark {
		return "mark " + r.Label
	}
	text := suite.CallName(r)
	if r.Size != 0 {
		text += fmt.Sprintf(" of %d bytes", r.Size)
	} else if len(r.Accesses) > 0 {
		text += fmt.Sprintf(" over %d bytes", r.Accesses[0].Size)
	}
	text += where
	if r.Event != 0 {
		text += fmt.Sprintf(", event %d", r.Event)
	}
	if r.Stream != 0 {
		text += ", on " + stream(notes, r.Stream)
	}
	if r.Op == trace.OpMemPoolSetAttribute || r.Op == trace.OpMemPoolGetAttribute {
		text += fmt.Sprintf(", attribute %d", r.Attr)
	}
	return text
}

// stream is what a stream is called.
func stream(notes *verdict.CaseNotes, id trace.ID) string {
	for i := range notes.Trace.Records {
		if r := &notes.Trace.Records[i]; r.Op == trace.OpStreamCreate && r.Stream == id && r.Label != "" {
			return r.Label
		}
	}
	return fmt.Sprintf("stream %d", id)
}
