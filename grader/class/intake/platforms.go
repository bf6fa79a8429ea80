package intake

import (
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
	time    string // as in Moment
	late    bool
}

// platform is how one names what it exports.
type platform func(name string) (label, bool)

// platformOf is whose export this is, by the names in it; nil for nobody's. Others than Moodle and Blackboard could be taken for
// Canvas in a single name, so half of all have to fit.
func platformOf(kids []*child) platform {
	fits, holders := 0, 0
	for _, k := range kids {
		for _, p := range []platform{moodle, blackboard} {
			if _, ok := p(k.name); ok {
				return p
			}
		}
		if k.mayHold() {
			holders++
		}
		if _, ok := canvas(k.name); ok {
			fits++
		}
	}
	if fits > 0 && 2*fits >= holders {
		return canvas
	}
	return nil
}

// mayHold reports whether there may be Go files in a child, or it is one.
func (c *child) mayHold() bool {
	return c.folder || isGo(c.name) || isArchive(c.name) || unreadableArchive(c.name) != ""
}

// Canvas names every file in submissions.zip after who handed it in, in small letters and family name first, their number, the
// number of the file, and the name of the file: smithjohn_LATE_1234_5678_slab-1.go, where LATE is there for what came late and
// "-1" is added to a name that the student has handed in before. Anonymous ones begin with anon_ and five characters, and text
// typed in ends in _text.html without a number of a file.
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
	return label{key: "canvas " + id, name: id, person: Person{Name: who, Platform: user}, file: m[len(m)-1], late: late}, true
}

// Moodle puts what a participant has handed in into a folder, Ada Lovelace_1234_assignsubmission_file, which ended in another _
// in older versions, or with folders switched off writes that before the name of each file. The number is the participant's in
// that assignment; a team has its own, or none for those who are in no team. Names have no _.
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
// gradebook_CS-101_Slab_jsmith_attempt_2026-09-01-23-59-59_slab.go. Beside the files of each attempt there is a text without the
// file's name, in which the user's name and their own stand.
//
// Source: help.blackboard.com, "Download assignments"; names as in vangef/BBGradebookOrganiser.
var blackboardName = regexp.MustCompile(`^(?:gradebook_)?(.+)_attempt_(\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)(?:_(.+)|\.txt)?$`)

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

// usernames tells Blackboard's names of users apart from what all names of an export begin with. Both may have a _ in them.
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

// numbered splits what platforms and browsers add to a name that was there before: "slab-1.go" and "slab (1).go" are the second
// "slab.go". The number of the first is 0.
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
