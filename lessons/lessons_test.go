package lessons

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", "slabs", "../lessons/async-pipeline", "async-pipeline.hints.md"} {
		e := Exercise{Name: name, texts: Texts}
		_, err := e.Chapter()
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
		_, err = e.Hints()
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
	}
}

func TestChapterSaysWhereItIs(t *testing.T) {
	const idea = "\n\n## The idea\n\nText.\n\n## What to read next\n\n- A book.\n"
	texts := fstest.MapFS{"course.toml": &fstest.MapFile{}}
	for _, name := range []string{"one", "two", "three"} {
		entry := fmt.Sprintf("[[exercise]]\nname = %q\ntitle = %q\npackage = %[1]q\npoints = { cost = 100 }\n",
			name, "A title of many words, for lesson "+name)
		texts["course.toml"].Data = append(texts["course.toml"].Data, entry...)
		texts[name+".md"] = &fstest.MapFile{Data: []byte("# Heading" + idea)}
	}
	exercises, err := Read(texts)
	require.NoError(t, err)
	const end = "- The next lesson: "
	for i, want := range []string{
		"# Heading\n\nLesson 1 of 3 · [the course](README.md) · next: [A title of many words, for lesson two](two.md)" +
			idea + end + "[A title of many words, for lesson two](two.md).\n",
		"# Heading\n\nLesson 2 of 3 · [the course](README.md) · " +
			"before: [A title of many words, for lesson one](one.md) · next:\n[A title of many words, for lesson " +
			"three](three.md)" +
			idea + end + "[A title of many words, for lesson three](three.md).\n",
		"# Heading\n\nLesson 3 of 3 · [the course](README.md) · before: [A title of many words, for lesson two](two.md)" +
			idea,
	} {
		got, err := exercises[i].Chapter()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
