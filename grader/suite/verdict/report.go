// Package verdict is what a verdict is said in: reports, their checks and findings, the errors that come of others,
// what benchmarks measured, and the notes of a case, which all of that is read off. Suites say it; reports, classes and
// editors show it.
package verdict

import (
	"slices"
	"strings"

	"cudalab/grader/suite/returned"
)

// Status is the outcome of a check or of a whole exercise.
type Status string

// A check is passed, failed or skipped; a report is any but skipped.
const (
	Passed      Status = "passed"
	Failed      Status = "failed"
	Skipped     Status = "skipped"     // could not be asked, because of what is said in another check
	NotStarted  Status = "not-started" // the skeleton as it was handed out
	BuildFailed Status = "build-failed"
	Refused     Status = "refused" // the import policy
	Timeout     Status = "timeout"
	Crashed     Status = "crashed"
	Unread      Status = "unread" // what was handed in could not be read; a person has to look
	Errored     Status = "error"  // a fault of cudalab or of the machine, never the student's
)

// SchemaVersion is the version of Report's JSON form.
const SchemaVersion = 1

// Report is what cudalab says about one exercise: `check --json` prints it. Fields are only ever added within one
// schema version.
type Report struct {
	Schema   int    `json:"schema"`
	Cudalab  string `json:"cudalab,omitempty"` // the version of the program; a class has it once for all
	Exercise string `json:"exercise"`
	Device   Device `json:"device"`
	Status   Status `json:"status"`
	Message  string `json:"message,omitempty"` // one sentence on the whole, where the status needs one
	Next     string `json:"next,omitempty"`    // what to do next
	// the first that is still to be filled, where that keeps the code from passing
	Gap        *Gap    `json:"gap,omitempty"`
	Score      float64 `json:"score"`
	MaxScore   float64 `json:"max_score"`
	Seed       uint64  `json:"seed"`
	DurationMS int64   `json:"duration_ms"`
	Checks     []Check `json:"checks"`
	Output     string  `json:"output,omitempty"` // what the student's code printed; of much, the start and the end
	Likely     *Likely `json:"likely,omitempty"` // where one change is enough, where that was asked for and found
	// Completed is what came of unfinished code with the rest as the solution has it, where that was tried.
	Completed *Completed `json:"completed,omitempty"`
}

// Completed is what was tried with code that is not finished.
type Completed struct {
	Text  string   `json:"text"`  // "With Free and Close as the solution has them"
	Fails []string `json:"fails"` // the IDs of the checks that fail then
}

// Likely is where one change of the code is enough for a check to pass.
type Likely struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Check    string `json:"check"`              // its ID
	Where    string `json:"where"`              // all of that in a sentence
	Question string `json:"question,omitempty"` // about what stands there
}

// Text is what is told of it.
func (l *Likely) Text() string { return strings.TrimSpace(l.Where + " " + l.Question) }

// Unfinished reports whether nothing was found wrong with what is written so far: a gap is what keeps the code from
// passing.
func (r *Report) Unfinished() bool {
	return r.Status == Failed && r.Message != "" && !slices.ContainsFunc(r.Checks,
		func(c Check) bool { return c.Status == Failed })
}

// Gap is a place in the student's code that is still to be written.
type Gap struct {
	ID   string `json:"id"` // "1a"
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text,omitempty"` // what is to be written there, in a sentence without its full stop
}

// Device is the device a report was made on.
type Device struct {
	Kind   string `json:"kind"` // "gpu" or "sim"
	Name   string `json:"name"`
	Driver string `json:"driver,omitempty"` // the driver's CUDA version
	// Profile is a digest of what the simulated device goes by, where that is not the built-in profile.
	Profile string `json:"profile,omitempty"`
	// Note says why the GPU could not be had, where either device would do and the simulated one was taken.
	Note string `json:"note,omitempty"`
}

// Check is the answer to one named, weighted question.
type Check struct {
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Status       Status        `json:"status"`
	Points       float64       `json:"points"`
	MaxPoints    float64       `json:"max_points"`
	Message      string        `json:"message,omitempty"`
	Findings     []Finding     `json:"findings"`
	Measurements []Measurement `json:"measurements"`
	// Run is for the page alone; nil where there is nothing to draw.
	Run *Run `json:"-"`
}

// Severity is how much a finding weighs.
type Severity string

// An Error fails its check. A Remark costs nothing. Three are Report.Notices' alone: Unwritten is a gap, which is no
// finding of any check, a Consequence is an error that comes of another, and Suspected is where one change is enough.
const (
	Error       Severity = "error"
	Remark      Severity = "remark"
	Unwritten   Severity = "unwritten"
	Consequence Severity = "consequence"
	Suspected   Severity = "suspected"
)

// Finding is one concrete fault, with where it is and what mends it.
type Finding struct {
	Rule     string    `json:"rule"`
	Severity Severity  `json:"severity"`
	Message  string    `json:"message"`
	Why      string    `json:"why,omitempty"` // why CUDA works that way
	Fix      string    `json:"fix"`
	File     string    `json:"file"` // the student's file as they named it; "" where no line is at fault
	Line     int       `json:"line"`
	Column   int       `json:"column,omitempty"` // in bytes, from 1; 0: the line as a whole
	Related  []Related `json:"related,omitempty"`
	// Follows is the error that this one comes of, which is to be mended first; nil where it comes of none.
	Follows *Cause `json:"follows,omitempty"`
	// Picture is a drawing of the streams concerned, in lines of at most 76 characters that each end in a newline.
	Picture string `json:"picture,omitempty"`
	// Drawing is the memory of an allocator, step by step; nil where there is nothing to draw. It is for the page alone.
	Drawing *Drawing `json:"-"`
	// Threads is the order of threads' operations that it is about; nil where it is about none. It is for the page alone.
	Threads *Threads `json:"-"`
	// Record is the index of the record at fault in its case's trace; -1 where there is none.
	Record int `json:"-"`
	// Function is the student's function at fault where no line is and it is another than the suite's.
	Function string `json:"-"`
	// Refused says that the code did nothing, since it took good arguments for bad ones.
	Refused bool `json:"-"`
	// Gap is the gap that has answered, where that is all there is to it: what is still to be written is not wrong.
	Gap string `json:"-"`
	// Effect is the line that it would have been told on, in the same file, if it were not known what it comes of; 0: it
	// was moved from none.
	Effect int `json:"-"`
	// Given says that it is about what a call was given: what it makes for is not told beside it.
	Given bool `json:"-"`
	// Failed says that it stands where a call of CUDA's answered an error: what is wrong with that call is why.
	Failed bool `json:"-"`
	// Fault is where the call stands that was made to fail, behind which it was found.
	Fault Place `json:"-"`
	// With is where the other call stands, where a call is at fault together with another one.
	With Place `json:"-"`
	// Kept says that it is about memory that an earlier call of the function has made.
	Kept bool `json:"-"`
	// Look is what is known of a wrong answer, by which the statement is found that it comes of. Zero where nothing is.
	Look Look `json:"-"`
}

// Look is what is wrong with an answer: the error that was returned, the one that was not, a number that the code
// tells of itself, or
// the block that was handed out, or whatever else; or a call of CUDA's that was not made. The first of these that is
// set counts. Errors are those of the
// contract, "ErrFull".
type Look struct {
	Call      string // "EventRecord"
	Field     string // of Stats or of a report: "InUse"
	Got, Want string
	Block     bool
	Answer    bool // whatever was answered beside an error
	Line      int  // of the last operation on what several threads share
	// Return has the line of the return statement that answered, as in Outcome: it helps where nothing else does.
	Return returned.Lines
}

// Known reports whether anything is known but where the call returned.
func (l Look) Known() bool {
	l.Return = returned.Lines{}
	return l != Look{}
}

// Related is a second place that a finding is about.
type Related struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Measurement is a figure with the interval it lies in.
type Measurement struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Limit float64 `json:"limit,omitempty"` // 0: none, the figure is for information
}
