package intake

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// label is what a platform says by the name that it gives a file or a folder.
type label struct {
	key     string // the same for all of one student's; keys of different platforms differ
	name    string // to make the ID of
	person  Person
	file    string // as the student called it; "" for a folder that holds what they handed in
	attempt string // later ones sort behind; "" where the platform exports one only
	number  int    // of the attempt, where the platform counts them; else 0
	time    string // as in Moment
	late    bool
	undated string // the time that it names, where that cannot be read
}

// goesBy are the names that a student may go by.
func (l label) goesBy() []string {
	return append(strings.Split(l.name, "_"), l.name, l.person.SID, l.person.Email, l.person.Login)
}

// platform is how one names what it exports.
type platform struct {
	form    string // what it is, to follow "Read as "
	label   func(name string) (label, bool)
	folders bool // it exports folders only
	sure    bool // one name is enough to know it by; of others half of all have to fit
}

// platforms are those that are known by names. Canvas, whose names fit most, comes last.
var platforms = []*platform{
	{form: "submissions downloaded from Moodle", label: moodle, sure: true},
	{form: "a gradebook download from Blackboard", label: blackboard, sure: true},
	{form: "submissions downloaded from Brightspace", label: brightspace, sure: true},
	{form: "submissions downloaded from Autolab", label: autolab, sure: true},
	{form: "a bulk download from Sakai", label: sakai, folders: true},
	{form: "submissions downloaded from ILIAS", label: ilias, folders: true},
	{form: "submissions downloaded from Canvas", label: canvas},
}

// platformOf is whose export this is, by the names in it; nil for nobody's.
func platformOf(kids []*child) *platform {
	for _, p := range platforms {
		fits, holders := 0, 0
		for _, k := range kids {
			_, ok := p.of(k)
			if ok && p.sure {
				return p
			}
			if k.mayHold() {
				holders++
			}
			if ok {
				fits++
			}
		}
		if fits > 0 && 2*fits >= holders {
			return p
		}
	}
	return nil
}

// of is what a child's name says.
func (p *platform) of(k *child) (label, bool) {
	if p.folders && !k.folder {
		return label{}, false
	}
	return p.label(k.name)
}

// mayHold reports whether there may be Go files in a child, or it is one.
func (c *child) mayHold() bool {
	return c.folder || isGo(c.name) || isArchive(c.name) || unreadableArchive(c.name) != ""
}

// Canvas names every file in submissions.zip after who handed it in, in small letters and family name first, their
// number, the number of the file, and the name of the file: smithjohn_LATE_1234_5678_slab-1.go, where LATE is there for
// what came late and "-1" is added to a name that the student has handed in before. Anonymous ones begin with anon_ and
// five characters, and text typed in ends in _text.html without a number of a file.
//
// Source: instructure/canvas-lms, lib/content_zipper.rb, get_filename and add_upload_submission.
var (
	canvasFile = regexp.MustCompile(`^(?:(.+?)_)?(LATE_)?(\d+|anon_[0-9A-Za-z]{5})_(\d+)_(.+)$`)
	canvasText = regexp.MustCompile(`^(?:(.+?)_)?(LATE_)?(\d+|anon_[0-9A-Za-z]{5})_((?:text|link)\.html)$`)
)

func canvas(name string) (label, bool) {
	m := canvasFile.FindStringSubmatch(name)
	if m == nil {
		if m = canvasText.FindStringSubmatch(name); m == nil {
			return label{}, false
		}
	}
	who, late, user := m[1], m[2] != "", m[3]
	if who == "LATE" && !late { // of somebody whose name is not told
		who, late = "", true
	}
	if who == "" && !strings.HasPrefix(user, "anon_") {
		return label{}, false
	}
	id := strings.TrimPrefix(who+"_"+user, "_")
	return label{key: "canvas " + id, name: id, person: Person{Name: who, Platform: user}, file: m[len(m)-1], late: late},
		true
}

// Moodle puts what a participant has handed in into a folder, Ada Lovelace_1234_assignsubmission_file, which ended in
// another _ in older versions, or with folders switched off writes that before the name of each file. The number is the
// participant's in that assignment; a team has its own, or none for those who are in no team. Names have no _.
//
// Source: moodle/moodle, mod/assign/classes/downloader.php, get_student_prefix and load_submissionplugin_filelist.
var moodleName = regexp.MustCompile(`^(.+?)(?:_(\d+))?_assignsubmission_([a-z]+)(?:_(.*))?$`)

func moodle(name string) (label, bool) {
	m := moodleName.FindStringSubmatch(name)
	if m == nil {
		return label{}, false
	}
	id := m[1]
	if m[2] != "" {
		id += "_" + m[2]
	}
	return label{key: "moodle " + id, name: id, person: Person{Name: m[1], Platform: m[2]}, file: m[4]}, true
}

// Blackboard puts the course, the assignment, the user's name and when the attempt was made before the name of a file:
// gradebook_CS-101_Slab_jsmith_attempt_2026-09-01-23-59-59_slab.go. Beside the files of each attempt there is a text
// without the file's name, in which the user's name and their own stand.
//
// Source: help.blackboard.com, "Download assignments"; names as in vangef/BBGradebookOrganiser.
var blackboardName = regexp.MustCompile(
	`^(?:gradebook_)?(.+)_attempt_(\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)(?:_(.+)|\.txt)?$`)

func blackboard(name string) (label, bool) {
	m := blackboardName.FindStringSubmatch(name)
	if m == nil {
		return label{}, false
	}
	l := label{key: "blackboard " + m[1], name: m[1], file: m[3], attempt: m[2]}
	if strings.HasSuffix(name, ".txt") && m[3] == "" {
		l.file = blackboardSummary
	}
	if t, err := time.Parse("2006-01-02-15-04-05", m[2]); err == nil {
		l.time = t.Format("2006-01-02T15:04:05")
	}
	return l, true
}

// Brightspace names a folder after two numbers, of which the first is the user's in the course, who it is, and when it
// came: "27236-46025 - 23304308 Angood - 05 March 2026 612 PM", "100001-2000001 - astudent Avery Student - Jul 30, 2026
// 1053 PM". A group's has the group before the name. Each attempt has a folder of its own, or where files were
// downloaded without folders, a name that ends in that of the file.
//
// Source: the names that public tools take apart, such as parse_brightspace_folder of the Python package grader_helper
// and the Java record education.the_software_toolsmith…lms.brightspace.SubmissionInfo.
var brightspaceName = regexp.MustCompile(`^(\d+)-\d+ - (.+)$`)

func brightspace(name string) (label, bool) {
	m := brightspaceName.FindStringSubmatch(name)
	if m == nil {
		return label{}, false
	}
	parts := strings.Split(m[2], " - ")
	for i := 1; i < len(parts); i++ {
		if !brightspaceYear.MatchString(parts[i]) {
			continue
		}
		who := strings.Join(parts[:i], " - ")
		l := label{key: "brightspace " + m[1], name: who, person: Person{Name: parts[i-1], Platform: m[1]},
			file: strings.Join(parts[i+1:], " - ")}
		at, ok := parseDate(parts[i])
		if l.time, l.attempt = at, at; !ok {
			l.undated = parts[i]
		}
		return l, true
	}
	return label{}, false
}

var brightspaceYear = regexp.MustCompile(`\b20\d\d\b`)

// Autolab names a file after the student's address, which submission of theirs it is, and what the assessment calls it:
// ada@example.edu_3_handin.zip.
//
// Source: autolab/Autolab, app/models/submission.rb, handin_file_long_filename.
var autolabName = regexp.MustCompile(`^(\S+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)_(\d{1,6})_(.+)$`)

func autolab(name string) (label, bool) {
	m := autolabName.FindStringSubmatch(name)
	if m == nil {
		return label{}, false
	}
	n, _ := strconv.Atoi(m[2])
	return label{key: "autolab " + m[1], name: m[1], person: Person{Email: m[1]}, file: m[3], attempt: fmt.Sprintf("%06d",
		n), number: n}, true
}

// Sakai has a folder for each student, "Lovelace, Ada(ada12)", with what they handed in below "Submission
// attachment(s)", the instructor's answer below "Feedback Attachment(s)", and when it came in timestamp.txt; grades.csv
// lies beside the students.
//
// Source: sakaiproject/sakai, assignment/impl/…/AssignmentServiceImpl.java, zipSubmissions; names as in public tools
// that read them.
var sakaiName = regexp.MustCompile(`^([^,]+), ?(.*)\(([^()]+)\)$`)

func sakai(name string) (label, bool) {
	m := sakaiName.FindStringSubmatch(name)
	if m == nil {
		return label{}, false
	}
	who := strings.TrimSpace(m[2] + " " + m[1])
	return label{key: "sakai " + m[3], name: who + "_" + m[3], person: Person{Name: who, Login: m[3]}}, true
}

const (
	sakaiAttachments = "Submission attachment(s)/"
	sakaiFeedback    = "Feedback Attachment(s)/"
	sakaiTime        = "timestamp.txt"
)

// sakaiFolder takes from a student's folder what Sakai puts beside what was handed in.
func (c *students) sakaiFolder(u *unit) {
	var own listing
	for _, e := range u.inside {
		if strings.HasPrefix(e.path, sakaiFeedback) {
			u.aside = append(u.aside, listing{e}.files("it is the instructor's feedback")...)
			continue
		}
		if e.path == sakaiTime && e.load != nil {
			if text, err := e.load(100); err == nil {
				for _, layout := range []string{"20060102150405", time.RFC3339} {
					stamp := strings.TrimSpace(string(text))
					if layout != time.RFC3339 && len(stamp) > len(layout) {
						stamp = stamp[:len(layout)] // thousandths behind it
					}
					if t, err := parseTime(layout, stamp); err == nil {
						u.moment.Time = t
					}
				}
			}
		}
		e.path = strings.TrimPrefix(e.path, sakaiAttachments)
		own = append(own, e)
	}
	u.inside = own
}

// ILIAS names a student's folder Lovelace_Ada_ada12_4711 in ASCII, the login and the user's number at the end. The
// folder of a team holds those of its members.
//
// Source: ILIAS-eLearning/ILIAS, Modules/Exercise, downloadAllAssignmentFiles; ilifau/ExerciseStatusFile, README.md.
var iliasName = regexp.MustCompile(`^([^_]+)_(.+)_([^_]+)_(\d+)$`)

func ilias(name string) (label, bool) {
	if iliasTeam.MatchString(name) {
		return label{key: "ilias " + name, name: name}, true
	}
	m := iliasName.FindStringSubmatch(name)
	if m == nil {
		return label{}, false
	}
	who := strings.ReplaceAll(m[2]+" "+m[1], "_", " ")
	return label{key: "ilias " + m[4], name: name, person: Person{Name: who, Login: m[3], Platform: m[4]}}, true
}

var iliasTeam = regexp.MustCompile(`^Team[ _]\d+$`)

// iliasMembers are those of a team, by the folders in the team's.
func iliasMembers(l listing) []Person {
	var people []Person
	for _, k := range l.children() {
		if said, ok := ilias(k.name); ok && k.folder {
			people = append(people, said.person)
		}
	}
	return people
}

// blackboardSummary stands for the name of the text that Blackboard writes for each attempt.
const blackboardSummary = "attempt.txt"

// "Name: Ada Lovelace (jsmith)"
var blackboardWho = regexp.MustCompile(`(?m)^\s*Name:\s*(\S.*?)\s*\(([^()\s]+)\)\s*$`)

// summary is who an attempt's text says has made it.
func summary(text []byte) (Person, bool) {
	m := blackboardWho.FindSubmatch(text)
	if m == nil {
		return Person{}, false
	}
	name, _ := validUTF8(string(m[1]))
	login, _ := validUTF8(string(m[2]))
	return Person{Name: name, Login: login}, true
}

// usernames tells Blackboard's names of users apart from what all names of an export begin with. Both may have a _ in
// them.
func usernames(before []string) map[string]string {
	names := map[string]string{}
	shared := ""
	for i, b := range before {
		if i == 0 {
			shared = b
		}
		for !strings.HasPrefix(b, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	shared = shared[:strings.LastIndex(shared, "_")+1]
	for _, b := range before {
		if names[b] = strings.TrimPrefix(b, shared); len(before) == 1 {
			names[b] = b[strings.LastIndex(b, "_")+1:]
		}
	}
	return names
}

// numbered splits what platforms and browsers add to a name that was there before: "slab-1.go" and "slab (1).go" are
// the second "slab.go". The number of the first is 0.
func numbered(name string) (first string, n int) {
	stem, ext := name, ""
	if at := strings.LastIndex(name, "."); at > 0 {
		stem, ext = name[:at], name[at:]
	}
	if inner, isTar := strings.CutSuffix(stem, ".tar"); isTar {
		stem, ext = inner, ".tar"+ext
	}
	m := again.FindStringSubmatch(stem)
	if m == nil {
		return name, 0
	}
	n, err := strconv.Atoi(m[2] + m[3])
	if err != nil {
		return name, 0
	}
	return m[1] + ext, n
}

var again = regexp.MustCompile(`^(.*[^\s])(?:-([1-9]\d?)| \(([1-9]\d?)\))$`)
