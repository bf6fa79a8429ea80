package instructors_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/policy"
	courses "cudalab/grader/suites/course"
)

// policyExample is the grading.toml of the chapter.
func policyExample(chapter string) (string, error) {
	_, rest, found := strings.Cut(chapter, "```toml\n")
	example, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		return "", errors.New("the chapter has no example of a grading.toml")
	}
	return example, nil
}

// TestPolicyExample holds the chapter's example to be a policy of this course, and the grade that it shows to be what
// comes of it.
func TestPolicyExample(t *testing.T) {
	chapter, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := policyExample(string(chapter))
	require.NoError(t, err)
	c, err := courses.Open(course)
	require.NoError(t, err)
	known := policy.Course{}
	for _, e := range c.Exercises {
		for check := range e.Points {
			known[e.Name] = append(known[e.Name], check)
		}
	}
	p, err := policy.Parse("grading.toml", example, known)
	require.NoError(t, err)
	grade := p.Grade(policy.Work{ID: "bob", HandedIn: "2026-10-09T20:00:00Z", Exercises: []policy.Exercise{
		{Name: "async-pipeline", Score: 100, Max: 100, Speed: 0.44}, {Name: "slab", Score: 60, Max: 100},
		{Name: "buddy", Score: 0, Max: 100},
		{Name: "ring", Score: 80, Max: 100, Speed: 0.2}, {Name: "tracker", Score: 100, Max: 100},
	}})
	_, shown, _ := strings.Cut(string(chapter), "Bob's grade then reads like this")
	_, shown, _ = strings.Cut(shown, "```text\n")
	shown, _, _ = strings.Cut(shown, "\n```\n")
	require.Equal(t, strings.Join(grade.How, "\n"), shown)
}
