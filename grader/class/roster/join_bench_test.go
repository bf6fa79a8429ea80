package roster

import (
	"fmt"
	"testing"

	"cudalab/grader/class/intake"
)

// BenchmarkJoin is a class of 1,000 whose submissions are known by name alone.
func BenchmarkJoin(b *testing.B) {
	var entries []Entry
	var submissions []intake.Submission
	for i := range 1000 {
		name := fmt.Sprintf("Jörg%d Müller%d", i, i)
		entries = append(entries, Entry{Person: intake.Person{Name: name, SID: fmt.Sprint(100_000 + i),
			Login: fmt.Sprint("jm", i),
			Email: fmt.Sprintf("jm%d@x.edu", i)}})
		submissions = append(submissions, intake.Submission{ID: name, From: name})
	}
	for b.Loop() {
		if j := Join(entries, submissions); len(j.Absent) > 0 {
			b.Fatal(j.Absent)
		}
	}
}
