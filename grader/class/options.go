package class

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"cudalab/grader/class/roster"
	"cudalab/grader/suites/course"
	"cudalab/native/sim"
)

// Options say what to grade and how.
type Options struct {
	Root        string            // the course's
	Exercises   []course.Exercise // to grade, in the course's order
	Submissions string            // a folder of folders and archives, one archive of all, or one submission
	Results     string            // the folder for the results
	Device      string            // "gpu", "sim" or "auto"
	Profile     *sim.Profile      // of the simulated device; nil: the built-in one
	GPUs        []string          // to use, as CUDA_VISIBLE_DEVICES names them; empty: all that there are
	Jobs        int               // submissions at one time; 0: one for each CPU, or two for each GPU where that is fewer
	Seed        uint64            // 0: the journal's, or where there is none a fresh one
	Timeout     time.Duration     // for one submission, waiting for the GPU not counted; 0: DefaultTimeout
	Why         bool              // look for the line where one change is enough, in what fails
	Insecure    bool              // grade where strangers' code cannot be confined
	Resume      bool              // go on with the results that are there
	Only        []string          // IDs of students to grade, also again; empty: all who have no result yet
	// Again has those graded again who have a result like one of these: a status of an exercise, "crashed", an exercise
	// that they handed in, "slab", or a status of that exercise, "slab=timeout".
	Again    []string
	Shard    Shard
	Roster   []roster.Entry // of the class; empty: nobody says who is in it
	Policy   string         // the file that says how points become grades, a grading.toml; "": none
	Writers  []Writer       // of the results in other forms
	Live     Writer         // of the page that is renewed while grading goes on; nil: there is none
	Pages    []Page         // for each student
	Progress func(Progress) // told after every submission; may be nil
	Say      func(string)   // told what a person should know, in sentences; may be nil

	// fault, in tests, is asked before each attempt; its error or panic is one of cudalab's own.
	fault func(id string, attempt int, gpu string) error
}

// DefaultTimeout is far above what six exercises take, each of which may run into a case's own limit.
const DefaultTimeout = 15 * time.Minute

// Shard is one part of a class that is graded in parts: every Of-th submission from the Index-th on. The zero Shard is
// all.
type Shard struct {
	Index int `json:"index"` // from 1
	Of    int `json:"of"`
}

// Progress is how far the grading has come.
type Progress struct {
	Pages       bool // it is the students' pages that are being made: all is graded
	Done, Total int  // submissions; those with a result from before are in neither
	Passed      int  // in every exercise
	Errors      int  // could not be graded
	Left        time.Duration
}

// validate refuses what makes no sense, and fills in what was left out.
func (o *Options) validate() error {
	switch {
	case o.Shard != Shard{} && (o.Shard.Of < 1 || o.Shard.Index < 1 || o.Shard.Index > o.Shard.Of):
		return usagef("A shard is one of so many parts, the first is 1: 1/4, 2/4, 3/4 and 4/4. There is no shard %d/%d.",
			o.Shard.Index, o.Shard.Of)
	case o.Shard.Of > 1 && o.Seed == 0 && !o.Resume:
		return usagef("The shards of one class need the same seed to be graded alike: give each the same --seed.")
	case len(o.Exercises) == 0:
		return usagef("There is no exercise to grade.")
	case o.Results != "" && within(o.Results, o.Submissions):
		return usagef("The folder for the results, %s, lies within the submissions and would be taken for one: name another "+
			"with -o.", o.Results)
	}
	for _, again := range o.Again {
		if err := o.validAgain(again); err != nil {
			return err
		}
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	return nil
}

// within reports whether a path lies below a folder.
func within(path, folder string) bool {
	path, err1 := filepath.Abs(path)
	folder, err2 := filepath.Abs(folder)
	below, err3 := filepath.Rel(folder, path)
	return errors.Join(err1, err2, err3) == nil && filepath.IsLocal(below)
}

// inTurn has what the options are told come from one goroutine at a time.
func (o *Options) inTurn() {
	var mu sync.Mutex
	if say := o.Say; say != nil {
		o.Say = func(sentence string) {
			mu.Lock()
			defer mu.Unlock()
			say(sentence)
		}
	}
	if progress := o.Progress; progress != nil {
		o.Progress = func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			progress(p)
		}
	}
}

func (o *Options) say(format string, a ...any) {
	if o.Say != nil {
		o.Say(fmt.Sprintf(format, a...))
	}
}

// UsageError is a reason not to grade that lies in what was asked for.
type UsageError struct {
	Message string // what is wrong and what to do, in sentences
}

func (e *UsageError) Error() string { return e.Message }

func usagef(format string, a ...any) error { return &UsageError{fmt.Sprintf(format, a...)} }
