package intake

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// looked are the submissions of a folder with some files, and what a person is asked, of all.
func looked(t *testing.T, files tree) (submissions []Submission, asked string) {
	t.Helper()
	in, err := Open(files.write(t, t.TempDir()), course, Options{Temp: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { in.Close() })
	all := in.Attention()
	for _, s := range in.Submissions() {
		all = append(all, s.Attention...)
	}
	return in.Submissions(), strings.Join(all, "\n")
}

// gradedFiles are the names of the files that are graded of an exercise.
func gradedFiles(t *testing.T, s Submission, pkg string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.Dir, pkg))
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNumberedFiles(t *testing.T) {
	const other = "lovelaceada_2_3_buddy.go"
	for _, test := range []struct {
		name          string
		first, second string // the texts of slab-1.go and slab-2.go
		want          []string
		asked         string
	}{
		{"parts of one program", slab + "func New() {}\n", slab + "func free() {}\n", []string{"slab-1.go", "slab-2.go"}, ""},
		{"versions whose first is absent", slab + "func New() {}\n", slab + "func New() {}\nfunc free() {}\n",
			[]string{"slab-2.go"},
			"slab-1.go and slab-2.go declare the same, and there is no slab.go: they are taken for versions, and slab-2.go " +
				"counts."},
		{"no Go", slab + "func New() {}\n", slab + "func New( {\n", []string{"slab-2.go"},
			"It cannot be told whether slab-1.go and slab-2.go are two versions or two parts of one program: slab-2.go alone " +
				"counts."},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, asked := looked(t, tree{"smithjohn_1_2_slab-1.go": test.first, "smithjohn_1_3_slab-2.go": test.second,
				other: buddy})
			require.Len(t, all, 2)
			require.Equal(t, test.want, gradedFiles(t, all[1], "slab"))
			require.Equal(t, test.asked, asked)
		})
	}
}

func TestFilesThatRedeclareEachOther(t *testing.T) {
	all, asked := looked(t, tree{"ada/slab/slab.go": slab + "type A struct{}\nfunc (a *A) Free() {}\n",
		"ada/slab/slab_old.go": slab + "func (A) Free() {}\n",
		"bob/slab/slab.go":     slab, "bob/slab/slab_test.go": slab})
	require.Equal(t, []string{"slab"}, all[0].Packages, "it is graded, and the compiler says so too")
	require.Equal(t, "slab: slab.go and slab_old.go both declare A.Free, so that they do not compile together. If one "+
		"is an older version, remove it.", asked)
}

func TestTwoSubmissionsOfOnePerson(t *testing.T) {
	for name, test := range map[string]struct {
		files tree
		want  string
	}{
		"by login": {tree{"Lovelace, Ada(al1)/Submission attachment(s)/slab.go": slab, "Lovelace, A.(AL1)/Submission " +
			"attachment(s)/slab.go": slab, "B, C(d)/slab.go": slab},
			"look like one person's, by the login al1."},
		"by name, however it is written": {tree{"Ada Lovelace/slab/slab.go": slab,
			"lovelace_ADA.zip": tree{"slab/slab.go": slab}.zip(t), "bob/slab/slab.go": slab},
			"Ada Lovelace, lovelace_ADA look like one person's, by the name ada lovelace."},
		"composed and not, wide and narrow": {tree{"J\u00F6rg \uFF2Dax/slab/slab.go": slab,
			"Jo\u0308rg Max 2/slab/slab.go": slab, "Jo\u0308rg-max/slab/slab.go": slab},
			"look like one person's, by the name jörg max."},
		"namesakes with numbers of their own": {tree{"Ada Lovelace_1_assignsubmission_file/slab.go": slab,
			"Ada Lovelace_2_assignsubmission_file/slab.go": slab}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, asked := looked(t, test.files)
			if test.want == "" {
				require.Empty(t, asked)
				return
			}
			require.Contains(t, asked, test.want)
		})
	}
}

func TestBrokenArchiveIsForAPerson(t *testing.T) {
	all, asked := looked(t, tree{"ada.zip": "PK\x03\x04 and no more", "bob.zip": tree{"slab/slab.go": slab}.zip(t),
		"eve/slab/slab.go": slab})
	require.Len(t, all, 3)
	require.NotEmpty(t, all[0].Problem)
	require.Contains(t, asked, all[0].Problem)
}

func TestPlatformsTellWhoAndWhen(t *testing.T) {
	for name, test := range map[string]struct {
		files tree
		form  string
		want  Person
		at    Moment
	}{
		"brightspace": {tree{"101-7 - al1 Ada Lovelace - Sep 1, 2026 905 AM/slab.go": slab, "101-7 - al1 Ada Lovelace - " +
			"Sep 10, 2026 1130 PM/slab.go": slab,
			"102-7 - b2 Bob - 2 September 2026 612 PM/slab.go": slab}, "Brightspace", Person{Name: "al1 Ada Lovelace",
			Platform: "101"},
			Moment{Time: "2026-09-10T23:30", Attempt: 2, Of: 2}},
		"autolab": {tree{"ada@x.edu_2_handin.go": slab, "ada@x.edu_10_handin.go": slab, "bob_b@x.edu_1_handin.go": slab},
			"Autolab", Person{Email: "ada@x.edu"},
			Moment{Attempt: 10, Of: 10}},
		"sakai": {tree{"grades.csv": "", "Lovelace, Ada(al1)/timestamp.txt": "20260901120102345",
			"Lovelace, Ada(al1)/Submission attachment(s)/slab.go": slab,
			"Lovelace, Ada(al1)/Feedback Attachment(s)/slab.go":   slab, "Z, B(b)/Submission attachment(s)/slab.go": slab},
			"Sakai",
			Person{Name: "Ada Lovelace", Login: "al1"}, Moment{Time: "2026-09-01T12:01:02Z"}},
		"ilias": {tree{"Lovelace_Ada_al1_4711/slab.go": slab, "Zed_Bob_b_4712/slab.go": slab}, "ILIAS",
			Person{Name: "Ada Lovelace", Login: "al1", Platform: "4711"}, Moment{}},
		"an ilias team": {tree{"Team 12/Lovelace_Ada_al1_4711/slab.go": slab, "Team 12/Z_B_b_4/buddy.go": buddy,
			"Team 13/Y_C_c_5/slab.go": slab}, "ILIAS",
			Person{Name: "Ada Lovelace", Login: "al1", Platform: "4711"}, Moment{}},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := Open(test.files.write(t, t.TempDir()), course, Options{Temp: t.TempDir()})
			require.NoError(t, err)
			defer in.Close()
			require.Contains(t, in.Form(), test.form)
			all := in.Submissions()
			require.Len(t, all, 2)
			require.Equal(t, test.want, all[0].People[0])
			require.Equal(t, test.at, all[0].HandedIn)
			require.Contains(t, all[0].Packages, "slab")
			require.Empty(t, all[0].Attention)
		})
	}
}

func TestTheLastAttemptThatMayCount(t *testing.T) {
	files := tree{}
	for i, at := range []string{"2026-09-01-10-00-00", "2026-09-02-10-00-00", "2026-09-03-10-00-00"} {
		for _, who := range []string{"ada", "bob"} {
			files["gradebook_x_"+who+"_attempt_"+at+"_slab.go"] = slab + "// " + string(rune('1'+i)) + "\n"
		}
	}
	in, err := Open(files.write(t, t.TempDir()), course, Options{Temp: t.TempDir(), Counts: func(who []string,
		at string) bool {
		return at < "2026-09-02T12" && slices.Contains(who, "ada")
	}})
	require.NoError(t, err)
	defer in.Close()
	for i, want := range []Moment{{Time: "2026-09-02T10:00:00", Attempt: 2, Of: 3}, {Time: "2026-09-03T10:00:00",
		Attempt: 3, Of: 3}} {
		s := in.Submissions()[i]
		require.Equal(t, want, s.HandedIn, s.ID)
		text, err := os.ReadFile(filepath.Join(s.Dir, "slab", "slab.go"))
		require.NoError(t, err)
		require.Contains(t, string(text), "// "+string(rune('0'+want.Attempt)))
	}
	require.Contains(t, in.Submissions()[0].Notes, "Attempt 2 of 3 counts, the last before the deadline, of 2026-09-02 "+
		"10:00:00.")
}

func TestTeamsCountsTheLastVersion(t *testing.T) {
	all, asked := looked(t, tree{
		"Submitted files/Ada Lovelace/Lab/Version 2/slab.go": slab + "// 2\n", "Submitted files/Ada Lovelace/Lab/Version " +
			"10/slab.go": slab + "// 10\n",
		"Submitted files/Bob/Lab/Version 1/slab.go": slab, "Working files/Ada Lovelace/Lab/slab.go": slab + "// at work\n"})
	require.Len(t, all, 2)
	text, err := os.ReadFile(filepath.Join(all[0].Dir, "slab", "slab.go"))
	require.NoError(t, err)
	require.Contains(t, string(text), "// 10")
	require.Contains(t, strings.Join(all[0].Notes, " "), "slab is graded as it is in version 10")
	require.Empty(t, asked)
}
