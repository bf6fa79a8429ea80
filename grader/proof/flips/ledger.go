package flips

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"text/tabwriter"

	"cudalab/grader/suite/verdict"
)

// Entry is one check of a program that is right.
type Entry struct {
	Exercise string
	Seed     uint64
	Loaded   bool // other work was on the machine
	Verdict  Verdict
	Checks   []string // those behind a verdict that is not a plain pass
	Millis   int64
}

// Ledger is the file that checks are entered in, a line each, so that a count can be gone on with. Its methods may be
// called from several goroutines.
type Ledger struct {
	mu      sync.Mutex
	file    *os.File
	device  string // a comment
	entries []Entry
}

const (
	quiet  = "quiet"
	loaded = "load"
)

// OpenLedger reads the file at path, if there is one, to go on with it.
func OpenLedger(path string) (*Ledger, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l := &Ledger{}
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			l.device = line
			continue
		}
		var e Entry
		var with, verdict, checks string
		_, err := fmt.Sscanf(line, "%s %d %s %s %d %s", &e.Exercise, &e.Seed, &with, &verdict, &e.Millis, &checks)
		if err != nil || with != quiet && with != loaded {
			return nil, fmt.Errorf("%s: not a check: %q", path, line)
		}
		e.Loaded, e.Verdict = with == loaded, Verdict(verdict)
		if checks != "-" {
			e.Checks = strings.Split(checks, ",")
		}
		l.entries = append(l.entries, e)
	}
	l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	return l, err
}

// Enter adds a check on a device, which is in the file when it returns.
func (l *Ledger) Enter(e Entry, d verdict.Device) error {
	with, checks := quiet, "-"
	if e.Loaded {
		with = loaded
	}
	if len(e.Checks) > 0 {
		checks = strings.Join(e.Checks, ",")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if device := deviceLine(d); device != l.device {
		l.device = device
		if _, err := l.file.WriteString(device); err != nil {
			return err
		}
	}
	l.entries = append(l.entries, e)
	_, err := fmt.Fprintln(l.file, e.Exercise, e.Seed, with, e.Verdict, e.Millis, checks)
	return err
}

// deviceLine is the comment that names a device.
func deviceLine(d verdict.Device) string { return strings.TrimSpace("# "+d.Name+" "+d.Driver) + "\n" }

// Count is how many checks of an exercise there are, with other work on the machine or without.
func (l *Ledger) Count(exercise string, load bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.Exercise == exercise && e.Loaded == load {
			n++
		}
	}
	return n
}

// Entries are all checks.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry{}, l.entries...)
}

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// Summary counts the verdicts by exercise and load, in the order in which they first occur, as a table below the
// device.
func (l *Ledger) Summary() string {
	type row struct {
		exercise string
		loaded   bool
	}
	var rows []row
	counts := map[row]map[Verdict]int{}
	for _, e := range l.Entries() {
		r := row{e.Exercise, e.Loaded}
		if counts[r] == nil {
			counts[r] = map[Verdict]int{}
			rows = append(rows, r)
		}
		counts[r][e.Verdict]++
	}
	var b strings.Builder
	b.WriteString(l.device)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "exercise\tmachine\tchecks\t")
	for _, v := range verdicts {
		fmt.Fprintf(w, "%s\t", v)
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		with, sum := quiet, 0
		if r.loaded {
			with = loaded
		}
		for _, n := range counts[r] {
			sum += n
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t", r.exercise, with, sum)
		for _, v := range verdicts {
			fmt.Fprintf(w, "%d\t", counts[r][v])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return b.String()
}
