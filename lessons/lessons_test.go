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
	const chapter = "# Heading\n\n## The idea\n\nText.\n\n## What to read next\n\n- A book.\n"
	texts := fstest.MapFS{"course.toml": &fstest.MapFile{}}
	for _, name := range []string{"one", "two", "three"} {
		entry := fmt.Sprintf("[[exercise]]\nname = %q\ntitle = %[2]q\npackage = %[1]q\nrequires = []\npoints = { cost = 100 }\n",
			name, "A title of many words, for lesson "+name)
		texts["course.toml"].Data = append(texts["course.toml"].Data, entry...)
		texts[name+".md"] = &fstest.MapFile{Data: []byte(chapter)}
	}
	exercises, err := Read(texts)
	require.NoError(t, err)
	for i, want := range []string{
		"# Heading\n\nLesson 1 of 3 · [the course](README.md) · next: [A title of many words, for lesson two](two.md)\n\n## The idea\n\nText.\n\n" +
			"## What to read next\n\n- A book.\n- The next lesson: [A title of many words, for lesson two](two.md).\n",
		"# Heading\n\nLesson 2 of 3 · [the course](README.md) · before: [A title of many words, for lesson one](one.md) · next:\n" +
			"[A title of many words, for lesson three](three.md)\n\n## The idea\n\nText.\n\n" +
			"## What to read next\n\n- A book.\n- The next lesson: [A title of many words, for lesson three](three.md).\n",
		"# Heading\n\nLesson 3 of 3 · [the course](README.md) · before: [A title of many words, for lesson two](two.md)\n\n## The idea\n\nText.\n\n" +
			"## What to read next\n\n- A book.\n",
	} {
		got, err := exercises[i].Chapter()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
