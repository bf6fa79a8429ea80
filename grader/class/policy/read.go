package policy

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// maxFile bounds a grading.toml.
const maxFile = 1 << 20

// Course is what the policy may name: the checks of each exercise.
type Course map[string][]string

// Error is what is wrong with a grading.toml.
type Error struct {
	File string
	Line int
	Text string // what is there, what should be, in sentences
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Read reads a policy. Every *Error has its line; what is no *Error says that the file cannot be read.
func Read(file string, c Course) (*Policy, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("there is no policy %s: name the file with --policy", file)
	case err != nil:
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("the policy %s should be a text file of at most 1 MiB", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be read: %w", err)
	}
	return Parse(file, string(text), c)
}

// Parse reads the text of a policy; file is what its errors call it.
func Parse(file, text string, c Course) (*Policy, error) {
	p := &Policy{}
	read, err := toml.Decode(text, p)
	if err != nil {
		return nil, unreadable(file, err)
	}
	r := &reader{Policy: p, file: file, lines: newLines(text), course: c}
	for _, key := range read.Undecoded() {
		r.fault(r.lines.of(key...), "Nothing is called %s here. %s", key, allowed(key))
	}
	r.validate(read)
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b *Error) int { return a.Line - b.Line })
		return nil, r.faults[0]
	}
	return p, nil
}

// wrongKind is the error of a value of another kind than the key has.
var wrongKind = regexp.MustCompile(`^toml: line (\d+) \(last key "(.*?)"\): (?s:(.*))$`)

// unreadable is the error of a file that is no TOML, or has text where a number should be and the like.
func unreadable(file string, err error) error {
	line, key, why := 1, "", strings.TrimPrefix(err.Error(), "toml: ")
	wrong := toml.ParseError{}
	switch m := wrongKind.FindStringSubmatch(err.Error()); {
	case errors.As(err, &wrong) && wrong.Message != "":
		line, key, why = wrong.Position.Line, wrong.LastKey, wrong.Message
	case m != nil:
		line, _ = strconv.Atoi(m[1])
		key, why = m[2], m[3]
		if types := regexp.MustCompile(`TOML value has type (\S+); destination has type (\S+)`).FindStringSubmatch(
			why); types != nil {
			why = fmt.Sprintf("it should be of type %s, and is of type %s", types[2], types[1])
		}
	}
	why = strings.Join(strings.Fields(why), " ")
	if key == "" {
		return &Error{file, max(1, line), fmt.Sprintf("This cannot be read as TOML: %s.", why)}
	}
	return &Error{file, max(1, line), fmt.Sprintf("What is written for %s cannot be read: %s.", key, why)}
}

// keys are what may be in each table; "" is the file itself.
var keys = map[string]string{
	"":          "scale, attempt, hidden, [exercises], [deadline], [[bonus]] and [[student]]",
	"exercises": "count, drop_lowest and weights",
	"deadline":  "due, zone, grace, free_days, penalty, most_penalty, closed_after and exercises",
	"bonus":     "exercise, below and points",
	"student":   "id, extension, handed_in, excused, adjust and comment",
}

func allowed(key toml.Key) string {
	table := ""
	if len(key) > 1 {
		table = key[0]
	}
	if may, ok := keys[table]; ok && table != "" {
		return fmt.Sprintf("In %s there may be %s.", table, may)
	}
	return fmt.Sprintf("There may be %s.", keys[""])
}

// reader is one Parse under way.
type reader struct {
	*Policy
	file   string
	lines  *lines
	course Course
	faults []*Error
}

func (r *reader) fault(line int, format string, a ...any) {
	r.faults = append(r.faults, &Error{r.file, line, fmt.Sprintf(format, a...)})
}

func (r *reader) validate(read toml.MetaData) {
	at := r.lines.of
	r.number(at("scale"), "scale", r.Scale, 0, 1e6)
	if r.Attempt != "" && !slices.Contains([]string{Last, Best, InTime}, r.Attempt) {
		r.fault(at("attempt"), "attempt should be %q, %q or %q, and is %q.", Last, Best, InTime, r.Attempt)
	}
	if r.Attempt == InTime && r.Deadline == nil {
		r.fault(at("attempt"), "attempt is %q, but there is no [deadline] that an attempt could be before.", InTime)
	}
	for _, name := range r.Hidden {
		exercise, check, _ := strings.Cut(name, ".")
		if r.exercise(at("hidden"), exercise) && !slices.Contains(r.course[exercise], check) {
			r.fault(at("hidden"), "%s has no check %q: name one as %s.CHECK, of %s.", exercise, check, exercise,
				strings.Join(r.course[exercise], ", "))
		}
	}
	r.exercises()
	r.deadline(read)
	for i, b := range r.Bonuses {
		line := func(key string) int { return r.lines.in("bonus", i, key) }
		if b.Exercise != "" {
			r.exercise(line("exercise"), b.Exercise)
		}
		r.number(line("below"), "below", b.Below, 0.001, 1)
		r.number(line("points"), "points", b.Points, 0.001, 1e6)
	}
	known := map[string]bool{}
	for i, s := range r.Students {
		r.student(i, s, known)
	}
}

func (r *reader) exercises() {
	at, e := r.lines.of, r.Policy.Exercises
	seen := map[string]bool{}
	for _, name := range e.Count {
		r.exercise(at("exercises", "count"), name)
		if seen[name] {
			r.fault(at("exercises", "count"), "%s is listed twice.", name)
		}
		seen[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(e.Weights)) {
		line := at("exercises", "weights", name)
		if r.exercise(line, name) && !r.counts(name) {
			r.fault(line, "%s has a weight, but is not among those that count.", name)
		}
		r.number(line, "the weight of "+name, e.Weights[name], 0.001, 1000)
	}
	count := len(e.Count)
	if count == 0 {
		count = len(r.course)
	}
	if e.DropLowest < 0 || e.DropLowest > 0 && e.DropLowest >= count {
		r.fault(at("exercises", "drop_lowest"), "drop_lowest should leave at least one of %s, and is %d.",
			plural(count, "exercise"), e.DropLowest)
	}
}

func (r *reader) deadline(read toml.MetaData) {
	d := r.Deadline
	if d == nil {
		return
	}
	at := func(key string) int { return r.lines.of("deadline", key) }
	if d.Due.Year() < 1970 {
		r.fault(at("due"), "A deadline needs its time: due = 2026-10-01T23:59:00+02:00.")
	}
	if d.Zone != "" {
		zone, err := time.LoadLocation(d.Zone)
		if err != nil {
			r.fault(at("zone"), "The zone %q is not known here: write one such as \"Europe/Berlin\" or \"UTC\".", d.Zone)
		} else {
			d.zone = zone
		}
	}
	if local(d.Due) {
		if d.Zone == "" {
			r.fault(at("due"), "This time names no zone. Write due = 2026-10-01T23:59:00+02:00, or zone = \"Europe/Berlin\" "+
				"beside it.")
		}
		d.Due = in(d.Due, d.location())
	}
	for _, name := range slices.Sorted(maps.Keys(d.Exercises)) {
		line, due := r.lines.of("deadline", "exercises", name), d.Exercises[name]
		switch r.exercise(line, name); {
		case due.Year() < 1970:
			r.fault(line, "The deadline of %s needs its time: %s = 2026-10-01T23:59:00+02:00.", name, name)
		case local(due) && d.Zone == "" && d.zone == nil && local(d.Due):
			r.fault(line, "This time names no zone. Write %s = 2026-10-01T23:59:00+02:00, or zone = \"Europe/Berlin\" in "+
				"[deadline].", name)
		case local(due):
			d.Exercises[name] = in(due, d.location())
		}
	}
	r.span(at("grace"), "grace", d.Grace)
	if d.FreeDays < 0 {
		r.fault(at("free_days"), "free_days should be 0 or more, and is %d.", d.FreeDays)
	}
	if d.ClosedAfter < 0 {
		r.fault(at("closed_after"), "closed_after should be a number of days, and is %d.", d.ClosedAfter)
	}
	r.number(at("penalty"), "penalty", d.Penalty, 0, 100)
	r.number(at("most_penalty"), "most_penalty", d.MostPenalty, 0, 100)
	if d.MostPenalty == 0 && read.IsDefined("deadline", "most_penalty") {
		r.fault(at("most_penalty"), "most_penalty is 0, so that being late costs nothing: leave out penalty and "+
			"most_penalty to have it so.")
	}
}

func (r *reader) student(i int, s student, known map[string]bool) {
	line := func(key string) int { return r.lines.in("student", i, key) }
	switch {
	case s.ID == "":
		r.fault(line("id"), "This entry should say whose it is: id = \"ada\", as in the results, or the number, address or "+
			"login.")
	case known[s.ID]:
		r.fault(line("id"), "There are two entries for %q: make them one.", s.ID)
	}
	known[s.ID] = true
	for _, name := range s.Excused {
		r.exercise(line("excused"), name)
	}
	r.span(line("extension"), "extension", s.Extension)
	if r.Deadline == nil && (s.Extension > 0 || !s.HandedIn.IsZero()) {
		r.fault(line("id"), "%q has an extension or a time, but there is no [deadline] that it could be held to.", s.ID)
	}
	if r.Deadline != nil && local(s.HandedIn) {
		r.Policy.Students[i].HandedIn = in(s.HandedIn, r.Deadline.location())
	}
	r.number(line("adjust"), "adjust", s.Adjust, -1e6, 1e6)
	if s.Adjust != 0 && strings.TrimSpace(s.Comment) == "" {
		r.fault(line("adjust"), "Whoever asks should be told why the grade of %q was adjusted: write a comment.", s.ID)
	}
}

// exercise complains of a name that no graded exercise has.
func (r *reader) exercise(line int, name string) bool {
	_, ok := r.course[name]
	if !ok {
		r.fault(line, "There is no exercise %q among those that are graded: %s.", name,
			strings.Join(slices.Sorted(maps.Keys(r.course)), ", "))
	}
	return ok
}

func (r *reader) number(line int, what string, v, least, most float64) {
	if math.IsNaN(v) || v < least || v > most {
		r.fault(line, "%s should be from %v to %v, and is %v.", what, least, most, v)
	}
}

// span holds a length of time to be one; a number without a unit would be nanoseconds.
func (r *reader) span(line int, what string, d time.Duration) {
	if d < 0 || d > 0 && d < time.Second || d > 10*365*24*time.Hour {
		r.fault(line, "%s should be a length of time with its unit, such as \"15m\" or \"48h\", and is %s.", what, d)
	}
}

// local reports whether a time was written without a zone.
func local(t moment) bool { return strings.HasSuffix(t.Location().String(), "-local") }

// in is a time's clock in another zone.
func in(t moment, zone *time.Location) moment {
	return moment{time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone)}
}
