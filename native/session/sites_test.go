package session_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/session"
	"cudalab/native/trace"
)

// marked makes a record below so many more calls of itself, and says where the runtime sees it come from.
func marked(s *session.Session, depth int) trace.Site {
	if depth > 0 {
		return marked(s, depth-1)
	}
	s.MarkHere("here")
	return trace.Callers(0)
}

// A site is the call stack from the caller of cudalab on, deep ones cut off, and one stack has one number however often
// it comes, in one trace after another.
func TestSites(t *testing.T) {
	const kept = 12 // frames
	places := map[string]func(s *session.Session) trace.Site{
		"deferred": func(s *session.Session) (site trace.Site) {
			defer func() { site = marked(s, 0) }()
			return nil
		},
		"while panicking": func(s *session.Session) (site trace.Site) {
			defer func() { _ = recover() }()
			defer func() { site = marked(s, 0) }()
			panic("on the way")
		},
		"on a goroutine": func(s *session.Session) trace.Site {
			site := make(chan trace.Site)
			go func() { site <- marked(s, 3) }()
			return <-site
		},
	}
	for depth := range 2 * kept {
		places[fmt.Sprint("nested ", depth)] = func(s *session.Session) trace.Site { return marked(s, depth) }
	}
	for name, place := range places {
		s := open(t)
		for range 2 {
			s.StartTrace()
			var want trace.Site
			for range 3 {
				want = place(s)
			}
			want = want[:min(len(want), kept)]
			tr := s.StopTrace()
			require.Len(t, tr.Sites, 2, "%s: one for all that is unknown and one for the place", name)
			got := tr.SiteOf(&tr.Records[2])
			require.Equal(t, want[0].Func, got[0].Func, name)
			require.Equal(t, want[1:], got[1:], name)
		}
	}
}

// Stacks that differ in how deep they are have each a number of their own.
func TestDepthsAreToldApart(t *testing.T) {
	s := open(t)
	s.StartTrace()
	const depths = 10
	for depth := range depths {
		marked(s, depth)
	}
	require.Len(t, s.StopTrace().Sites, 1+depths)
}
