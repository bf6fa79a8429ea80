package bugclinic

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// wrong finds what a call has left behind that is not as it should be. The caller's own work behind it counts as well.
func (c call) wrong() []verdict.Finding {
	if c.Far {
		return c.Unlaunched(c.W.launches())
	}
	words, where := wrongResult(c.Made)
	if words == "" {
		return nil
	}
	f := verdict.Finding{
		Rule: "wrong-result", Function: c.W.of.name,
		Message: fmt.Sprintf("%s for %s: %s", c.W.of.name, c.W.Label(), words),
		Why:     "Every word counts, so one that is missing, different or out of place shows.",
		Fix:     "Compare each call with the function's comment: what it reads, what it writes, and how many words.",
	}
	if where == "" {
		return []verdict.Finding{c.At(-1, f)}
	}
	writer := c.lastWriter(where)
	if writer < 0 {
		f.Message += " No call of yours writes there."
		return []verdict.Finding{c.At(-1, f)}
	}
	f.Message += fmt.Sprintf(" The last call that writes there is %s, here.", suite.CallName(c.Record(writer)))
	f.Fix = "Compare this call with the function's comment: what it is given, what it reads, how many words, and what " +
		"has to come before it."
	return []verdict.Finding{c.At(writer, f)}
}

// lastWriter is the student's last call that writes where a result is, by its name in the function's signature; -1:
// none does.
func (c call) lastWriter(where string) int {
	number, given := map[string]int{"data": 0, "dst": 0, "other": 1, "src": 1}[where]
	written := c.All(func(r *trace.Record) bool {
		switch {
		case where == "out":
			return r.Op == trace.OpLaunch && r.Kernel == digests
		case given:
			return writing(r, c.memory(number))
		}
		return slices.ContainsFunc(r.Accesses, func(a trace.Access) bool { return a.Kind == trace.Write })
	})
	if len(written) == 0 {
		return -1
	}
	return written[len(written)-1]
}

// wrong is the same, of a call as the suite has it.
func wrong(m *suite.Made[workload]) []verdict.Finding { return call{m}.wrong() }

// wrongResult says in a sentence without a beginning what is wrong with what a call has left behind, "" where nothing
// is, and where that is; "" where it is no one place.
func wrongResult(m *suite.Made[workload]) (words, where string) {
	if m.Noted(noteRefused) != nil {
		return fmt.Sprintf("what %s answered should be of use to the caller, but CUDA refused the caller's next call "+
			"with it.", m.W.of.name), ""
	}
	if m.W.of.name == "Upload" {
		return wrongParts(m.W, m.Noted(noteParts)), ""
	}
	sums := m.Sums()
	for i, want := range m.W.results() {
		if i >= len(sums) {
			return "", ""
		}
		got := sums[i] - suite.Garbage // which was there before, and to which is added
		where := want.what
		if len(m.W.results()) > 1 && strings.HasPrefix(where, "out+") {
			where = "" // of many, each with a call of its own
		}
		switch {
		case got == want.want:
		case want.of != "":
			return fmt.Sprintf("%s should hold %s, but other words are at %d of the %d places.", want.what, want.of, got, m.W.n),
				where
		case sums[i] == 0 || sums[i] == want.want:
			return fmt.Sprintf("the digest should be added to what %s holds, but that was set to zero.", want.what), ""
		case got == 0:
			return fmt.Sprintf("%d should have been added to %s, but nothing was.", want.want, want.what), ""
		default:
			return fmt.Sprintf("%d should have been added to %s, but %d was.", want.want, want.what, got), where
		}
	}
	return "", ""
}

// wrongParts is the same of the parts at dst.
func wrongParts(w workload, got []uint64) string {
	parts := w.parts()
	for i, part := range parts {
		if i >= len(got) {
			return ""
		}
		if got[i] == hashed(part) {
			continue
		}
		if slices.ContainsFunc(parts, func(other []byte) bool {
			return len(other) >= len(part) &&
				got[i] == hashed(other[:len(part)])
		}) {
			return fmt.Sprintf("dst should hold parts[%d] at its place, but the bytes of another part are there.", i)
		}
		return fmt.Sprintf("dst should hold parts[%d] at its place, but other bytes are there.", i)
	}
	if w.total() == 0 && len(got) > len(parts) && got[len(parts)] != hashed([]byte{suite.Poison}) {
		return "there is nothing to copy, so dst should hold what it held, but other bytes are there."
	}
	return ""
}
