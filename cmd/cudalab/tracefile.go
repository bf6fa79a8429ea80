package main

import (
	"bufio"
	"os"

	"cudalab/grader/check"
	"cudalab/grader/report"
)

// traceFile is the file of --trace; without a file it takes in everything and does nothing.
type traceFile struct {
	file *os.File
	w    *bufio.Writer
}

// openTrace makes the file before anything is checked, so that a name that cannot be written is noticed at once.
func openTrace(path string) (*traceFile, error) {
	if path == "" {
		return &traceFile{}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, usage("the trace cannot be written: %v.", err)
	}
	return &traceFile{f, bufio.NewWriter(f)}, nil
}

func (t *traceFile) add(r check.Result) error {
	if t.file == nil {
		return nil
	}
	for _, c := range r.Traces {
		if err := report.Trace(t.w, r.Report.Exercise, c.Case, c.Trace, r.Name); err != nil {
			return usage("the trace cannot be written: %v.", err)
		}
	}
	return nil
}

func (t *traceFile) close() error {
	if t.file == nil {
		return nil
	}
	err := t.w.Flush()
	if closeErr := t.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return usage("the trace cannot be written: %v.", err)
	}
	return nil
}
