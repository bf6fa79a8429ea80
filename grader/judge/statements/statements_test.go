package statements_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/statements"
	"cudalab/grader/suite/returned"
	"cudalab/grader/suite/verdict"
)

const pool = `package pool

type Pool struct {
	base, used, size int64
	out  map[int64]bool
	peak, peaks int
}

func (p *Pool) Alloc(n int64) (int64, error) {
	if n < 1 { // too small
		return 0, contract.ErrSize
	}
	if n > p.size-p.used { // no room
		return 0, p.full()
	}
	end := p.used + n // how far
	at, err := p.place()
	if err != nil {
		return 0, err
	}
	p.used = end
	p.count() 
	return at, nil
}

func (p *Pool) full() error { return contract.ErrFull }

func (p *Pool) place() (int64, error) {
	return p.base + p.used, nil
}

func (p *Pool) count() {
	p.peak++ // one more
}

func (p *Pool) Trim(keep int64) error {
	if keep < 0 { // first
		return contract.ErrArgument
	}
	if keep > p.size {
		return contract.ErrArgument
	}
	return nil
}

func (p *Pool) Free(at int64) error {
	if !p.out[at] { // not out
		return contract.ErrInvalidFree
	}
	if p.peaks > 0 { // only then
		if err := cuda.EventRecord(at); err != nil {
			return err
		}
	}
	return nil // fine
}

func (p *Pool) Stats() Stats {
	return Stats{Used: p.used, Peak: p.peak, Size: p.size} // told
}

func Run() (report Report) {
	report.Rounds++ // counted
	return report
}
`

// TestCodeOf finds statements by the comments behind them; "" where none is found.
func TestCodeOf(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pool.go"), []byte(pool), 0o600))
	lines := strings.Split(pool, "\n")
	code := statements.Read(dir)
	for name, x := range map[string]struct {
		function string
		look     verdict.Look
		line     string
	}{
		"the condition of an error that came":                     {"Alloc", verdict.Look{Got: "ErrSize"}, "too small"},
		"the condition of an error that did not":                  {"Free", verdict.Look{Want: "ErrInvalidFree"}, "not out"},
		"an error that came from a function that is one sentence": {"Alloc", verdict.Look{Got: "ErrFull"}, ""},
		"the first of the conditions of an error that did not":    {"Trim", verdict.Look{Want: "ErrArgument"}, "first"},
		"several conditions of an error that came":                {"Trim", verdict.Look{Got: "ErrArgument"}, ""},
		"an error that the code does not know":                    {"Free", verdict.Look{Want: "ErrClosed"}, "fine"},
		"a number that another function changes":                  {"Alloc", verdict.Look{Field: "Peak"}, "one more"},
		"where a number comes from that is kept":                  {"Alloc", verdict.Look{Field: "Used"}, "how far"},
		"a number that nothing changes":                           {"Free", verdict.Look{Field: "Used"}, ""},
		"a number that is kept where it is told":                  {"Run", verdict.Look{Field: "Rounds"}, "counted"},
		"a number where it is told":                               {"Stats", verdict.Look{Field: "Size"}, "told"},
		"the block":                                               {"Alloc", verdict.Look{Block: true}, "p.place()"},
		"a call that was not come to":                             {"Free", verdict.Look{Call: "EventRecord"}, "only then"},
		"a call that is missing": {"Stats", verdict.Look{Call: "EventRecord"},
			"func (p *Pool) Stats"},
		"which of several returned": {"Trim", returnedAt("> p.size {", 1, verdict.Look{Got: "ErrArgument"}),
			"> p.size"},
		"the return statement, where nothing else is": {"Free", returnedAt("// fine", 0, verdict.Look{}),
			"// fine"},
		"the return statement of what is answered": {"Alloc", returnedAt("func (p *Pool) full", 0, verdict.Look{}),
			""},
		"the block that was handed out there": {"Alloc", returnedAt("return at, nil", 0, verdict.Look{Block: true}),
			"p.place()"},
		"what another function has returned": {"Trim", returnedAt("// fine", 0, verdict.Look{}),
			""},
		"a function that is not there": {"Close", verdict.Look{Got: "ErrSize"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			at, what, ok := code.Of(x.function, x.look)
			require.Equal(t, x.line != "", ok, "%+v %s", at, what)
			if ok {
				require.Contains(t, lines[at.Line-1], x.line)
				require.NotEmpty(t, what)
			}
		})
	}
}

// returnedAt is a look at a call that has returned in a line, so many lines behind the one with a text.
func returnedAt(text string, behind int, look verdict.Look) verdict.Look {
	before, _, _ := strings.Cut(pool, text)
	look.Return = returned.Lines{int32(strings.Count(before, "\n") + 1 + behind)}
	return look
}
