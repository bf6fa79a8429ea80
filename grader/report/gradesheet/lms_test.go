package gradesheet_test

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/gradesheet"
)

const canvas = "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Essay (31),CUDA lab (77),slab (78),Current Score\n" +
	"    Points Possible,,,,,10,50,55,(read only)\n" +
	"\"Lovelace, Ada\",101,s-1,ada@x.edu,Mon 10,9,,,90\n" +
	"\"Dylan, Bob\",102,s-2,bob,Mon 10,,,,\n" +
	"\"=cmd, Carl\",103,s-3,carl@x.edu,Tue,,,,\n" +
	"\"Stranger, Sue\",104,s-4,sue,Tue,,,,\n" +
	"\"Lost, Lea\",105,s-5,lea,Tue,,,,\n" +
	"\"Student, Test\",106,,hash,Tue,,,,\n"

// people gives the sample class what a platform's export tells: each is found in another way.
func people() *class.Class {
	c := reporttest.Sample()
	by := map[string]class.Person{"ada": {Platform: "101", Name: "Somebody Else"}, "bob": {Login: "bob"},
		"carl": {Email: "Carl@X.edu"}, "lost": {SID: "s-5"}}
	for i := range c.Students {
		if p, known := by[c.Students[i].ID]; known {
			c.Students[i].People = []class.Person{p}
		}
	}
	return c
}

func fill(t *testing.T, export string, c *class.Class, column string) ([][]string, gradesheet.Filled) {
	t.Helper()
	s, err := gradesheet.Read("export.csv", []byte(export))
	require.NoError(t, err)
	var out bytes.Buffer
	f, err := s.Write(&out, c, column)
	require.NoError(t, err)
	rows, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	return rows, f
}

// importsIntoCanvas holds a file to what Canvas's importer asks for: see lib/gradebook_importer.rb.
func importsIntoCanvas(t *testing.T, rows [][]string) {
	t.Helper()
	head := rows[0]
	require.Greater(t, len(head), 3)
	require.Contains(t, head[0], "Student")
	require.Contains(t, head[1], "ID")
	who := 3
	switch {
	case regexp.MustCompile(`SIS\s+Login\s+ID`).MatchString(head[2]):
		who++
	case regexp.MustCompile(`SIS\s+User\s+ID`).MatchString(head[2]) && regexp.MustCompile(`SIS\s+Login\s+ID`).MatchString(
		head[3]):
		who += 2
	}
	require.Contains(t, head[who-1], "Section")
	require.Contains(t, rows[1][0], "Points Possible")
	for _, row := range rows[1:] {
		require.Len(t, row, len(head))
		for _, cell := range row[who:] {
			_, err := strconv.ParseFloat(cell, 64)
			require.NoError(t, err, "an empty cell would take a grade away")
		}
	}
	for _, row := range rows[2:] {
		require.Regexp(t, `^[0-9]*$`, row[1])
	}
}

func TestCanvasGetsItsGradebookBack(t *testing.T) {
	rows, f := fill(t, canvas, people(), "CUDA lab")
	importsIntoCanvas(t, rows)
	require.Equal(t, [][]string{
		{"Student", "ID", "SIS User ID", "SIS Login ID", "Section", "CUDA lab (77)", "slab (78)"},
		{"    Points Possible", "", "", "", "", "50", "55"},
		{"Lovelace, Ada", "101", "s-1", "ada@x.edu", "Mon 10", "50", "55"},
		{"Dylan, Bob", "102", "s-2", "bob", "Mon 10", "5", "0"},
		{"'=cmd, Carl", "103", "s-3", "carl@x.edu", "Tue", "0", "0"},
	}, rows, "100 points are scaled to the 50 that the assignment has, and who has no grade is in no row")
	require.Equal(t, []string{"Stranger, Sue", "Student, Test"}, f.Empty)
	require.Equal(t, []string{"Lost, Lea"}, f.Held)
	require.Equal(t, []string{"dora", "emil", "zoë", "torn"}, f.Without)
	require.Equal(t, []string{
		`canvas.csv has 3 grades of 6 in the gradebook, found 1 by the platform's number, 1 by the student number, 1 by the e-mail address, 1 by the login, for the column "CUDA lab (77)".`,
		"The points are scaled to the 50 that the column is worth there.",
		"Not in the gradebook, and so in no row: dora, emil, zoë, torn.",
		"In the gradebook, but with no result: Stranger, Sue, Student, Test.",
		"Left out, because they have no grade yet: Lost, Lea.",
	}, f.Sentences("canvas.csv"))

	rows, f = fill(t, canvas, people(), "cudalab")
	importsIntoCanvas(t, rows)
	require.Equal(t, "cudalab", rows[0][5], "an assignment that Canvas makes")
	require.Equal(t, "100", rows[2][5])
	require.Zero(t, f.Scaled)
}

func TestNobodyIsGuessed(t *testing.T) {
	c := reporttest.Sample()
	c.Students = c.Students[:3]
	c.Students[0].People = []class.Person{{Name: "Ada Lovelace"}}
	c.Students[1].People = []class.Person{{Name: "lovelace ada"}} // two with one name
	c.Students[2].ID = "lovelaceada"                              // as Canvas names files
	export := "Student,ID,Section\n    Points Possible,,\n\"Lovelace, Ada\",1,A\n"
	rows, f := fill(t, export, c, "cudalab")
	require.Len(t, rows, 2)
	require.Equal(t, []string{"Lovelace, Ada may be ada or bob or lovelaceada"}, f.Unclear)
	require.Len(t, f.Without, 3)

	c.Students = c.Students[2:]
	rows, _ = fill(t, export, c, "cudalab")
	require.Len(t, rows, 3)

	twice := export + "\"Ada, Lovelace\",2,B\n"
	c.Students[0].People = []class.Person{{Name: "Ada Lovelace"}}
	rows, f = fill(t, twice, c, "cudalab")
	require.Len(t, rows, 2, "a name that two have tells neither")
	require.Len(t, f.Empty, 2)
}

func TestAGroupsGradeIsEachMembers(t *testing.T) {
	c := people()
	c.Students[0].People = append(c.Students[0].People, class.Person{Platform: "104"})
	rows, _ := fill(t, canvas, c, "cudalab")
	require.Equal(t, "Stranger, Sue", rows[5][0])
	require.Equal(t, rows[2][5], rows[5][5])
}

func TestMoodleImportsByAddressOrNumber(t *testing.T) {
	export := "First name,Last name,ID number,Email address,Quiz (Real),Last downloaded from this course\n" +
		"Ada,Lovelace,7,ada@x.edu,3,1\nBob,Dylan,8,-bob@x.edu,,1\nSue,Stranger,9,sue@x.edu,,1\n"
	c := reporttest.Sample()
	c.Students[0].People = []class.Person{{Email: "ada@x.edu"}}
	c.Students[0].Page, c.Students[0].Notes = "students/ada.html", []string{"bob has the same name"}
	c.Students[1].People = []class.Person{{SID: "8"}}
	rows, f := fill(t, export, c, "Lab 1")
	require.Equal(t, []string{"First name", "Last name", "ID number", "Email address", "Lab 1", "Lab 1 (feedback)"},
		rows[0])
	require.Equal(t, []string{"Ada", "Lovelace", "7", "ada@x.edu", "100"}, rows[1][:5])
	require.Equal(t, "async-pipeline: passed, 45 of 45 points.\nslab: passed, 55 of 55 points.\nPage: students/ada.html",
		rows[1][5])
	require.Equal(t, "'-bob@x.edu", rows[2][3])
	require.Len(t, rows, 3)
	for _, row := range rows[1:] {
		require.NotEmpty(t, row[4], "feedback without a grade deletes it")
		require.NotEmpty(t, row[5])
	}
	require.Equal(t, []string{"Sue Stranger"}, f.Empty)
}

func TestAWorksheetComesBackAsItWas(t *testing.T) {
	export := "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified " +
		"(submission),Last modified (grade),Feedback comments\nParticipant 4711,Ada Lovelace,ada@x.edu,Submitted for " +
		"grading,,20.00,Yes,\"Monday, 1 September 2026, 10:00 AM\",-,\nParticipant 4712,Bob Dylan,bob@x.edu,No " +
		"submission,,20.00,Yes,-,-,\n"
	c := reporttest.Sample()
	c.Students[0].People = []class.Person{{Platform: "4711"}}
	c.Students = c.Students[:1]
	rows, _ := fill(t, export, c, "cudalab")
	require.Len(t, rows, 2)
	require.Len(t, rows[0], 10)
	require.Equal(t, []string{"Participant 4711", "Ada Lovelace", "ada@x.edu", "Submitted for grading", "20", "20.00",
		"Yes", "Monday, 1 September 2026, 10:00 AM"}, rows[1][:8])
	require.Contains(t, rows[1][9], "slab: passed")
}

func TestSeparatorsAreKept(t *testing.T) {
	s, err := gradesheet.Read("x",
		[]byte(strings.ReplaceAll("Student,ID,Section,cudalab (9)\n    Points Possible,,,\nada,1,A,\n", ",", ";")))
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = s.Write(&out, reporttest.Sample(), "cudalab")
	require.NoError(t, err)
	require.Equal(t, "Student;ID;Section;cudalab (9)\n\"    Points Possible\";;;100\nada;1;A;100\n", out.String())
}

func TestWhatIsNoGradebookIsNamed(t *testing.T) {
	for text, says := range map[string]string{
		"":                          "is empty",
		"a,b\n\"c":                  "is no CSV",
		"Vorname,E-Mail\nAda,a@b\n": `its first row is "Vorname, E-Mail"`,
	} {
		_, err := gradesheet.Read("export.csv", []byte(text))
		var asked *class.UsageError
		require.ErrorAs(t, err, &asked)
		require.Contains(t, err.Error(), says)
	}
}

func TestAGradebookOfWhatIsKnown(t *testing.T) {
	for _, kind := range []gradesheet.Kind{gradesheet.Canvas, gradesheet.Moodle} {
		c := people()
		var out bytes.Buffer
		_, err := gradesheet.Of(c, kind).Write(&out, c, "cudalab")
		require.NoError(t, err)
		rows, err := csv.NewReader(&out).ReadAll()
		require.NoError(t, err)
		if kind == gradesheet.Canvas {
			importsIntoCanvas(t, rows)
			require.Len(t, rows, 2+7)
		} else {
			require.Equal(t, []string{"Full name", "ID number", "Email address", "cudalab", "cudalab (feedback)"}, rows[0])
			require.Len(t, rows, 1+7)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(canvas)
	f.Add("Identifier,Grade,Maximum Grade\nParticipant 1,,x\n")
	f.Add("Email address;ID number\n;;;\n")
	f.Fuzz(func(t *testing.T, export string) {
		s, err := gradesheet.Read("x", []byte(export))
		if err != nil {
			return
		}
		var out bytes.Buffer
		filled, err := s.Write(&out, people(), "cudalab")
		require.NoError(t, err)
		filled.Sentences("x")
	})
}
