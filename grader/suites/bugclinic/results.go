package bugclinic

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
)

// wrong finds what a call has left behind that is not as it should be. The caller's own work behind it counts as well.
func (c call) wrong() []suite.Finding {
	words := wrongResult(c.Made)
	if words == "" {
		return nil
	}
	return []suite.Finding{c.At(-1, suite.Finding{
		Rule: "wrong-result", Function: c.W.of.name,
		Message: fmt.Sprintf("%s for %s: %s", c.W.of.name, c.W.Label(), words),
		Why:     "Every word counts, so one that is missing, different or out of place shows.",
		Fix:     "Compare each call with the function's comment: what it reads, what it writes, and how many words.",
	})}
}

// wrong is the same, of a call as the suite has it.
func wrong(m *suite.Made[workload]) []suite.Finding { return call{m}.wrong() }

// wrongResult says in a sentence without a beginning what is wrong with what a call has left behind; "" where nothing is.
func wrongResult(m *suite.Made[workload]) string {
	if m.Noted(noteRefused) != nil {
		return fmt.Sprintf("what %s answered should be of use to the caller, but CUDA refused the caller's next call with it.", m.W.of.name)
	}
	if m.W.of.name == "Upload" {
		return wrongParts(m.W, m.Noted(noteParts))
	}
	sums := m.Sums()
	for i, want := range m.W.results() {
		if i >= len(sums) {
			return ""
		}
		got := sums[i] - suite.Garbage // which was there before, and to which is added
		switch {
		case got == want.want:
		case want.of != "":
			return fmt.Sprintf("%s should hold %s, but other words are at %d of the %d places.", want.what, want.of, got, m.W.n)
		case sums[i] == 0 || sums[i] == want.want:
			return fmt.Sprintf("the digest should be added to what %s holds, but that was set to zero.", want.what)
		case got == 0:
			return fmt.Sprintf("%d should have been added to %s, but nothing was.", want.want, want.what)
		default:
			return fmt.Sprintf("%d should have been added to %s, but %d was.", want.want, want.what, got)
		}
	}
	return ""
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
		if slices.ContainsFunc(parts, func(other []byte) bool { return len(other) >= len(part) && got[i] == hashed(other[:len(part)]) }) {
			return fmt.Sprintf("dst should hold parts[%d] at its place, but the bytes of another part are there.", i)
		}
		return fmt.Sprintf("dst should hold parts[%d] at its place, but other bytes are there.", i)
	}
	return ""
}
