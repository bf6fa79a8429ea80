package policy_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/policy"
)

var course = policy.Course{"slab": {"arguments", "cleanup", "speed"}, "ring": {"results", "speed"},
	"buddy": {"results"}}

func parsed(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("grading.toml", text, course)
	require.NoError(t, err)
	return p
}

// work is 80 of 100 points in slab, 50 of 50 in ring and 10 of 100 in buddy.
func work() policy.Work {
	return policy.Work{ID: "ada", Known: []string{"1815"}, HandedIn: "2026-10-01T12:00:00Z", Exercises: []policy.Exercise{
		{Name: "slab", Score: 80, Max: 100, Speed: 0.4}, {Name: "ring", Score: 50, Max: 50, Speed: 0.4},
		{Name: "buddy", Score: 10, Max: 100},
	}}
}

func TestGrades(t *testing.T) {
	const due = "[deadline]\ndue = 2026-10-01T14:00:00+02:00\n" // when it was handed in
	for name, c := range map[string]struct {
		policy string
		at     string // handed in
		points float64
		most   float64
		how    string // a line of it
	}{
		"nothing said": {"", "", 140, 250, "Sum: 140 of 250."},
		"some count":   {"[exercises]\ncount = [\"slab\", \"buddy\"]", "", 90, 200, "buddy: 10 of 100 points."},
		"weights": {"[exercises.weights]\nslab = 2\nring = 0.5", "", 195, 325,
			"slab: 80 of 100 points, times 2: 160 of 200."},
		"drop": {"[exercises]\ndrop_lowest = 1", "", 130, 150,
			"buddy: 10 of 100 points, left out as one of the lowest."},
		"drop two": {"[exercises]\ndrop_lowest = 2", "", 50, 50,
			"slab: 80 of 100 points, left out as one of the lowest."},
		"scale": {"scale = 10", "", 5.6, 10, "On a scale to 10: 140 × 10 / 250."},
		"in time": {due + "penalty = 10", "", 140, 250, "Handed in 2026-10-01 14:00 +02:00, as the platform says: in " +
			"time for the deadline of 2026-10-01 14:00 +02:00."},
		"a minute late": {due + "penalty = 10", "2026-10-01T12:01:00Z", 126, 250, "Handed in 2026-10-01 14:01 +02:00, as " +
			"the platform says: 1 min after the deadline of 2026-10-01 14:00 +02:00, which is 1 day begun, 0 of them free: 10 " +
			"% off, −14."},
		"grace": {due + "penalty = 10\ngrace = \"5m\"", "2026-10-01T12:05:00Z", 140, 250, "Sum: 140 of 250."},
		"three days": {due + "penalty = 10\nfree_days = 1", "2026-10-04T11:00:00Z", 112, 250,
			"Handed in 2026-10-04 13:00 +02:00, as the platform says: 2 days 23 hours after the deadline of 2026-10-01 14:00 " +
				"+02:00, which is 3 days begun, 1 of them free: 20 % off, −28."},
		"most":   {due + "penalty = 10\nmost_penalty = 15", "2026-10-04T11:00:00Z", 119, 250, "Sum: 140 of 250."},
		"beyond": {due + "penalty = 60", "2026-10-04T11:00:00Z", 0, 250, "Sum: 140 of 250."},
		"closed": {due + "penalty = 10\nclosed_after = 2", "2026-10-04T11:00:00Z", 0, 250,
			"Handed in 2026-10-04 13:00 +02:00, as the platform says: 2 days 23 hours after the deadline of 2026-10-01 14:00 " +
				"+02:00, and after 2 days nothing counts: −140."},
		"extension": {due + "penalty = 10\n[[student]]\nid = \"ada\"\nextension = \"72h\"", "2026-10-04T11:00:00Z", 140,
			250, "Handed in 2026-10-04 13:00 +02:00, as the platform says: in time for the deadline of 2026-10-04 14:00 " +
				"+02:00 (3 days more than the class, by grading.toml)."},
		"by number": {due + "penalty = 10\n[[student]]\nid = \"1815\"\nhanded_in = 2026-10-01T14:00:01+02:00", "", 126,
			250, "Sum: 140 of 250."},
		"another": {due + "penalty = 10\n[[student]]\nid = \"bob\"\nhanded_in = 2026-10-09T14:00:01+02:00", "", 140,
			250, "Sum: 140 of 250."},
		"without a zone": {"[deadline]\ndue = 2026-10-01T14:00:00\nzone = \"Europe/Berlin\"\npenalty = 10",
			"2026-10-01T14:00:01", 126, 250, "Sum: 140 of 250."},
		"excused": {"[[student]]\nid = \"ada\"\nexcused = [\"buddy\"]", "", 130, 150,
			"buddy: excused, does not count."},
		"adjusted": {"[[student]]\nid = \"ada\"\nadjust = -5.5\ncomment = \"Copied the report\"", "", 134.5, 250,
			"Adjusted by −5.5: Copied the report."},
		"never below 0": {"[[student]]\nid = \"ada\"\nadjust = -500\ncomment = \"Copied.\"", "", 0, 250, "Grade: 0 of 250."},
		"bonus": {"[[bonus]]\nbelow = 0.5\npoints = 5\n[[bonus]]\nbelow = 0.45\npoints = 8\n[[bonus]]\nbelow = " +
			"0.1\npoints = 20", "", 148, 250,
			"Bonus for speed in ring: +8, since its time is 0.4 of the limit, below 0.45."}, // slab is not all right
		"bonus elsewhere": {"[[bonus]]\nexercise = \"slab\"\nbelow = 0.5\npoints = 5", "", 140, 250, "Grade: 140 of 250."},
	} {
		t.Run(name, func(t *testing.T) {
			w := work()
			if c.at != "" {
				w.HandedIn = c.at
			}
			g := parsed(t, c.policy).Grade(w)
			require.Equal(t, []float64{c.points, c.most}, []float64{g.Points, g.Max}, strings.Join(g.How, "\n"))
			require.Contains(t, g.How, c.how)
			require.Empty(t, g.Ask)
			require.True(t, strings.HasPrefix(g.How[len(g.How)-1], "Grade: "))
		})
	}
}

func TestDeadlinesOfExercises(t *testing.T) {
	p := parsed(t, "attempt = \"in-time\"\n[deadline]\ndue = 2026-10-01T14:00:00\nzone = \"Europe/Berlin\"\npenalty = "+
		"10\n[deadline.exercises]\n"+
		"ring = 2026-09-29T14:00:00+02:00\nbuddy = 2026-10-08T14:00:00\n[[student]]\nid = \"bob\"\nextension = \"24h\"\n")
	w := work()
	w.HandedIn = "2026-10-01T12:01:00Z"
	g := p.Grade(w)
	require.Equal(t, 140-8-15.0, g.Points, strings.Join(g.How, "\n"))
	require.Contains(t, g.How, "ring: Handed in 2026-10-01 14:01 +02:00, as the platform says: 2 days after the "+
		"deadline of 2026-09-29 14:00 +02:00, which is 3 days "+
		"begun, 0 of them free: 30 % off, −15.")
	require.Contains(t, g.How, "buddy: Handed in 2026-10-01 14:01 +02:00, as the platform says: in time for the "+
		"deadline of 2026-10-08 14:00 +02:00.")

	for at, want := range map[string]bool{"2026-10-08T14:00:00": true, "2026-10-08T14:00:01": false, "": true} {
		require.Equal(t, want, p.InTime(policy.Work{ID: "ada", HandedIn: at}), at)
	}
	require.True(t, p.InTime(policy.Work{Known: []string{"x", "bob"}, HandedIn: "2026-10-09T13:00:00"}), "an extension")
}

// What is not known is not to the student's loss, and a person is asked.
func TestUnknownTimes(t *testing.T) {
	p := parsed(t, "[deadline]\ndue = 2026-10-01T14:00:00+02:00\npenalty = 100\n")
	for _, late := range []bool{false, true} {
		w := work()
		w.HandedIn, w.Late = "", late
		g := p.Grade(w)
		require.Equal(t, 140.0, g.Points)
		require.Len(t, g.Ask, 1)
		require.Contains(t, g.Ask[0], "handed_in")
	}
}

// Every mistake is named with its line.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"scale = ": "1: What is written for scale cannot be read: unexpected EOF",
		"\nscale = \"ten\"": "2: What is written for scale cannot be read: it should be of type float, and is of type " +
			"string.",
		"\n\nscal = 10": "3: Nothing is called scal here. There may be scale, attempt",
		"[deadline]\ndue = 2026-10-01T14:00:00Z\nlate = 3": "3: Nothing is called deadline.late here. In deadline " +
			"there may be due, zone",
		"scale = -1":  "1: scale should be from 0 to 1e+06, and is -1.",
		"scale = nan": "1: scale should be",
		"attempt = \"before-deadline\"": "1: attempt should be \"last\", \"best\" or \"in-time\", and is " +
			"\"before-deadline\".",
		"attempt = \"in-time\"": "1: attempt is \"in-time\", but there is no [deadline]",
		"[deadline]\ndue = 2026-10-01T14:00:00Z\n[deadline.exercises]\nslub = 2026-10-02T14:00:00Z": "4: There is no " +
			"exercise \"slub\"",
		"[deadline]\ndue = 2026-10-01T14:00:00Z\n[deadline.exercises]\nslab = 3": "4: What is written for",
		"hidden = [\"slab.x\"]": "1: slab has no check \"x\": name one as " +
			"slab.CHECK, of arguments, cleanup, speed.",
		"hidden = [\"slap.x\"]": "1: There is no exercise \"slap\" among those " +
			"that are graded: buddy, ring, slab.",
		"[exercises]\n# all\ncount = [\"slap\"]":    "3: There is no exercise \"slap\"",
		"[exercises]\ncount = [\"slab\", \"slab\"]": "2: slab is listed twice.",
		"[exercises]\ndrop_lowest = 3": "2: drop_lowest should leave at least one of 3 " +
			"exercises, and is 3.",
		"[exercises]\ncount = [\"slab\"]\n[exercises.weights]\nring = 2": "4: ring has a weight, but is not among those " +
			"that count.",
		"[exercises]\nweights = { ring = 0 }": "2: the weight of ring should be from 0.001 to " +
			"1000, and is 0.",
		"[deadline]\npenalty = 3":                                  "1: A deadline needs its time",
		"[deadline]\ndue = 2026-10-01T14:00:00":                    "2: This time names no zone.",
		"[deadline]\ndue = 07:00:00":                               "2: A deadline needs its time",
		"[deadline]\ndue = 2026-10-01T14:00:00\nzone = \"Berlin\"": "3: The zone \"Berlin\" is not known here",
		"[deadline]\ndue = 2026-10-01T14:00:00Z\ngrace = 15": "3: grace should be a length of time with its unit, " +
			"such as \"15m\" or \"48h\", and is 15ns.",
		"[deadline]\ndue = 2026-10-01T14:00:00Z\npenalty = 101": "3: penalty should be from 0 to 100, and is 101.",
		"[deadline]\ndue = 2026-10-01T14:00:00Z\nmost_penalty = 0": "3: most_penalty is 0, so that being late costs " +
			"nothing",
		"[[bonus]]\nbelow = 0.5\npoints = 3\n[[bonus]]\npoints = 3": "4: below should be from 0.001 to 1, and is 0.",
		"[[student]]\nid = \"a\"\n[[student]]\nid = \"a\"":          "4: There are two entries for \"a\": make them one.",
		"[[student]]\nadjust = 3":                                   "1: This entry should say whose it is",
		"[[student]]\nid = \"a\"\nadjust = 3": "3: Whoever asks should be told why the grade of " +
			"\"a\" was adjusted: write a comment.",
		"[[student]]\nid = \"a\"\nextension = \"48h\"": "2: \"a\" has an extension or a time, but there is " +
			"no [deadline]",
		"[[student]]\nid = \"a\"\n[[student]]\nid = \"b\"\nexcuse = 3": "5: Nothing is called student.excuse here. In " +
			"student there may be id, extension",
		"[deadline]\ndue = \"tomorrow\"": "2: What is written for deadline.due cannot be read: this should be a time " +
			"without quotes",
		"x = 1\nx = 2": "2: ",
		"\x00":         "1: ",
	} {
		_, err := policy.Parse("grading.toml", text, course)
		wrong := &policy.Error{}
		require.ErrorAs(t, err, &wrong, "%s", text)
		require.Truef(t, strings.HasPrefix(err.Error(), "grading.toml:"+want), "%s\n%v\nshould begin with %s", text, err,
			want)
		require.NotContains(t, err.Error(), "toml: ")
		require.NotContains(t, err.Error(), "policy.")
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := policy.Read(filepath.Join(dir, "none.toml"), course)
	require.ErrorContains(t, err, "there is no policy "+filepath.Join(dir, "none.toml"))
	_, err = policy.Read(dir, course)
	require.ErrorContains(t, err, "should be a text file")
}

// FuzzParse reads what may be anything: a policy, or an error that names a line which is there. A policy has a grade
// that is one.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "scale = 10\nattempt = \"best\"",
		"[deadline]\ndue = 2026-10-01T14:00:00+02:00\npenalty = 10\ngrace = \"5m\"\nclosed_after = 3",
		"[exercises]\ndrop_lowest = 1\n[exercises.weights]\nslab = 2",
		"[[student]]\nid = \"ada\"\nadjust = 3\ncomment = \"c\"", "[[bonus]]\nbelow = 0.5\npoints = 5",
		"[student]\n[[student.a]]", "\"a.b\".c = 1\n[\"x]\"]\n[[ y ]]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.Parse("grading.toml", text, course)
		if wrong := (*policy.Error)(nil); errors.As(err, &wrong) {
			require.LessOrEqual(t, 1, wrong.Line)
			require.LessOrEqual(t, wrong.Line, strings.Count(text, "\n")+1, "%v", err)
			return
		}
		require.NoError(t, err)
		g := p.Grade(work())
		require.GreaterOrEqual(t, g.Points, 0.0)
		require.NotEmpty(t, g.How)
	})
}
