package roster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/intake"
)

func read(t testing.TB, text string) ([]Entry, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "class.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	entries, err := Read(path)
	if err != nil {
		var wrong *Error
		require.ErrorAs(t, err, &wrong)
		wrong.Message = strings.ReplaceAll(wrong.Message, path, "class.csv")
	}
	return entries, err
}

// What the platforms export is read as it is.
func TestPlatformsTables(t *testing.T) {
	wide := func(text string) string {
		b := []byte("\xFF\xFE")
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	ada := intake.Person{Name: "Ada Lovelace", SID: "1815", Email: "ada@x.edu", Login: "ada", Section: "A"}
	for name, c := range map[string]struct {
		text string
		want intake.Person
	}{
		"plain":      {"name,sid,email,login,section\nAda Lovelace,1815,ada@x.edu,ada,A\n", ada},
		"a blank":    {"\n\nname, sid, email, login, section\n\nAda Lovelace, 1815, ada@x.edu, ada, A\n\n", ada},
		"semicolons": {"\uFEFFName;Student ID;E-Mail;Username;Group\r\nAda Lovelace;1815;ada@x.edu;ada;A\r\n", ada},
		"tabs, wide": {wide("Name\tSID\tEmail\tLogin\tSection\r\nAda Lovelace\t1815\tada@x.edu\tada\tA\r\n"), ada},
		"two names": {"First Name,Last Name,SID,Email,Sections,Role\nAda,Lovelace,1815,ada@x.edu,A,Student\n",
			intake.Person{Name: "Ada Lovelace", SID: "1815", Email: "ada@x.edu", Section: "A"}},
		"canvas": {"Student,ID,SIS User ID,SIS Login ID,Section,Lab (77)\n    Points Possible,,,,,100\n\"Lovelace, " +
			"Ada\",4711,1815,ada,\"A\",\n\"Student, Test\",4712,,x,A,\n",
			intake.Person{Name: "Lovelace, Ada", Platform: "4711", SID: "1815", Login: "ada", Section: "A"}},
		"moodle": {"Identifier,\"Full name\",\"ID number\",\"Email address\",Status\n\"Participant 1234\",\"Ada " +
			"Lovelace\",1815,ada@x.edu,x\n",
			intake.Person{Name: "Ada Lovelace", Platform: "1234", SID: "1815", Email: "ada@x.edu"}},
		"github classroom": {"\"identifier\",\"github_username\",\"github_id\",\"name\"\n\"ada@x.edu\",\"ada\",\"99\",\"\"\n",
			intake.Person{Platform: "ada@x.edu", Login: "ada"}},
	} {
		entries, err := read(t, c.text)
		require.NoError(t, err, name)
		require.Len(t, entries, 1, name)
		require.Equal(t, c.want, entries[0].Person, name)
	}
}

func TestWhatIsWrongWithARoster(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "The roster class.csv is empty. It needs a line of heads",
		"name,sid\n":               "has heads but no student",
		"points,grade\n1,2\n":      `class.csv:1: no head says who somebody is; there are "points", "grade". Name the columns`,
		"sid,student id\n1,2\n":    `class.csv:1: two heads mean the same: "sid" and "student id".`,
		"name,sid\nAda,1\nBob,1\n": `class.csv:3: the student number "1" is also in line 2.`,
		"name,sid\nAda,1,extra\n": "class.csv:2: this line has 3 cells, but there are 2 heads. Put a cell that has a " +
			"\",\" in it into quotes.",
		"name,sid\n\"Ada,1\nBob,2\n":   `class.csv:2: this is no line of comma-separated values: a quote (") is not closed`,
		"name,sid\nAda,1\nJ\xF6rg,2\n": `class.csv:3: this is not UTF-8. Save the roster as "CSV UTF-8".`,
	} {
		_, err := read(t, text)
		require.ErrorContains(t, err, want, text)
	}
	_, err := Read(filepath.Join(t.TempDir(), "absent.csv"))
	require.ErrorContains(t, err, "no such file or directory. Name a file")
}

func TestJoin(t *testing.T) {
	entries, err := read(t, `name,sid,email,login,section
Ada Lovelace,1815,ada@x.edu,,A
"Smith, John",1000,js@x.edu,,A
John Smith,1001,js2@x.edu,,B
Jörg Müller-Ü,1002,jm@x.edu,,B
Kim O'Hara,1003,kim@x.edu,kimo,B
Zed,1004,zed@x.edu,,C
`)
	require.NoError(t, err)
	j := Join(entries, []intake.Submission{
		{ID: "lovelaceada_77", From: "lovelaceada_77", People: []intake.Person{{Name: "lovelaceada", Platform: "77"}}},
		{ID: "John Smith", From: "John Smith"},
		{ID: "1001", From: "1001.zip"},
		{ID: "group", From: "submission_9", People: []intake.Person{{Name: "J. M.", SID: "1002"},
			{Name: "Nobody", SID: "5"}}},
		{ID: "lab-1-kimo", From: "lab-1-kimo"},
		{ID: "Müller-Ü Jörg", From: "section B/Müller-Ü Jörg", People: []intake.Person{{Section: "section B"}}},
	})
	require.Equal(t, "1815", j.People["lovelaceada_77"][0].SID)
	require.Equal(t, "77", j.People["lovelaceada_77"][0].Platform)
	require.Equal(t, []intake.Person{entries[2].Person}, j.People["1001"], "by number")
	require.Equal(t, []intake.Person{entries[1].Person}, j.People["John Smith"],
		"by name, because the other one has handed in already")
	require.Equal(t, []intake.Person{entries[3].Person, {Name: "Nobody", SID: "5"}}, j.People["group"])
	require.Equal(t, "kim@x.edu", j.People["lab-1-kimo"][0].Email)
	require.Equal(t, []intake.Person{entries[5].Person}, j.Absent)
	require.Equal(t, []asked{
		{"group", "Nobody is not on the roster."},
		{"Müller-Ü Jörg", "section B/Müller-Ü Jörg is not on the roster."}, // Jörg handed in with the group
	}, j.Asked)

	j = Join(entries[:3], []intake.Submission{{ID: "a", From: "john smith"}, {ID: "b", From: "b"}, {ID: "c", From: "1815"},
		{ID: "d", From: "ada"}})
	require.Equal(t, []asked{
		{"a", "It cannot be told whose this is: on the roster it may be Smith, John (line 3) or John Smith (line 4)."},
		{"b", "b is not on the roster."},
		{"c", "Ada Lovelace has handed in 2 submissions, and each is graded: c, d."},
		{"d", "Ada Lovelace has handed in 2 submissions, and each is graded: c, d."},
	}, j.Asked)
}

// A folder's name finds who is on the roster by whatever of them stands in it, and by nothing that could be another's.
func TestJoinByTheNameOfAFolder(t *testing.T) {
	entries, err := read(t, `name,sid,email,login
Jörg Müller,100200,jm@x.edu,jm42
Ada Lovelace,100201,ada.l@x.edu,lovelace.a
Ada Byron,100202,byron@x.edu,ada
Zoë Şahin,100203,zs@x.edu,zsah1
`)
	require.NoError(t, err)
	for from, want := range map[string]int{
		"Mueller_Joerg_xx_4711": -1, "Muller Jorg": 0, "Mueller Joerg": 0, "Mu\u0308ller, J\u00F6rg": 0,
		"\uFF2A\u00D6RG m\u00FCller": 0, "hand-in of jm42": 0,
		"lab (jm@x.edu)": 0, "100200_lab": 0, "ada.l@x.edu_lab": 1, "lab lovelace.a": 1, "Ada Lovelace": 1, "lab ada": -1,
		"ada": 2, "Zoe Sahin": 3, "lab-3_ZSAH1": 3,
	} {
		j := Join(entries, []intake.Submission{{ID: "x", From: from}})
		if want < 0 {
			require.Len(t, j.Absent, len(entries), from)
			continue
		}
		require.Equal(t, []intake.Person{entries[want].Person}, j.People["x"], from)
	}
}

// FuzzRoster reads any bytes as a roster: it is read or refused in sentences, and what it says is in lines.
func FuzzRoster(f *testing.F) {
	f.Add([]byte("name,sid,email,login,section\nAda Lovelace,1815,ada@x.edu,ada,A\n"))
	f.Add([]byte("\xFF\xFEn\x00a\x00m\x00e\x00\n\x00a\x00\n\x00"))
	f.Add([]byte("First Name;Last Name\n\"A\"\"da\";\"L\n\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := parse("class.csv", text)
		if err != nil {
			require.True(t, strings.HasSuffix(err.Error(), "."), err.Error())
			require.NotContains(t, err.Error(), "parse error")
			return
		}
		require.NotEmpty(t, entries)
		for _, e := range entries {
			require.Positive(t, e.Line)
			require.NotContains(t, e.Name+e.SID+e.Email, "\n")
		}
		j := Join(entries, []intake.Submission{{ID: "a", From: entries[0].Name}})
		require.LessOrEqual(t, len(j.Absent), len(entries))
	})
}
