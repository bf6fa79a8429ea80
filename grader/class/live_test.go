package class

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainPage is a page of a student that says what there is to draw.
func plainPage(all bool) Page {
	return Page{Folder: studentsDir, All: all, Name: func(id string) (string, error) { return id, nil },
		Write: func(w io.Writer, f *Feedback) error {
			_, err := io.WriteString(w, f.Student.ID+" "+f.Lacks+"\n")
			return err
		}}
}

func TestTheLivePageIsThereFromTheBeginningAndInTheEndIsNot(t *testing.T) {
	o := graded(t, small(t), "slab")
	o.Jobs, o.Pages = 1, []Page{plainPage(true)}
	var said []Live
	o.Live = func(dir string, c *Class) error {
		require.Equal(t, o.Results, dir)
		require.NotNil(t, c.Live)
		if n := len(said); n > 0 { // on a busy machine it may be written several times meanwhile
			require.GreaterOrEqual(t, c.Live.Done, said[n-1].Done)
		}
		said = append(said, *c.Live)
		return nil
	}
	ended := 0
	o.Writers = []Writer{func(_ string, c *Class) error {
		if c.Live == nil {
			ended++
		}
		return nil
	}}
	grade(t, o)
	require.NotEmpty(t, said)
	require.Equal(t, Progress{Total: 5}, said[0].Progress)
	require.Equal(t, 1, ended)
	for _, id := range []string{"ada", "bob", "cem", "dan", "eve"} {
		text, err := os.ReadFile(filepath.Join(o.Results, studentsDir, id+".html"))
		require.NoError(t, err)
		require.Contains(t, string(text), id)
	}

	again := graded(t, o.Submissions, "slab")
	again.Jobs = 1
	ctx, cancel := context.WithCancel(context.Background())
	again.Progress = func(p Progress) {
		if p.Done == 2 {
			cancel()
		}
	}
	var last *Live
	again.Writers = []Writer{func(_ string, c *Class) error { last = c.Live; return nil }}
	_, err := Grade(ctx, again)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, last.Stopped)
	require.Equal(t, 5, last.Total)
}
