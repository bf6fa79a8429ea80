package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/prove"
	"cudalab/grader/report"
	"cudalab/grader/report/sarif"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// The formats of --format, in the order in which they are offered. watch has the first two.
const (
	textFormat  = "text"
	lineFormat  = "line"
	jsonFormat  = "json"
	sarifFormat = "sarif"
)

var (
	checkFormats = []string{textFormat, lineFormat, jsonFormat, sarifFormat}
	watchFormats = checkFormats[:2]
)

// reportWriter writes the reports of one command, as they come.
type reportWriter interface {
	add(r check.Result, main string) error // main is the exercise's file, for what is about no line in particular
	close() error
}

// reportWriters make one for each format.
var reportWriters = map[string]func(io.Writer) reportWriter{
	textFormat:  func(w io.Writer) reportWriter { return &textReports{w: w} },
	lineFormat:  func(w io.Writer) reportWriter { return lineReports{w} },
	jsonFormat:  func(w io.Writer) reportWriter { return jsonReports{w} },
	sarifFormat: func(w io.Writer) reportWriter { return &sarifReports{w: w} },
}

// formatFlags lets a command be told the format of its reports, and asked for JSON in short.
func formatFlags(cmd *cobra.Command, format *string, asJSON *bool) {
	cmd.Flags().StringVar(format, "format", textFormat, "write reports as `FORMAT`: "+strings.Join(checkFormats, ", "))
	cmd.Flags().BoolVar(asJSON, "json", false, "short for --format json")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("format", names(checkFormats)))
}

// names complete a flag that takes one of them.
func names(all []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// chosenFormat is the one that --format and --json come to.
func chosenFormat(cmd *cobra.Command, format string, asJSON bool) (string, error) {
	switch {
	case asJSON && cmd.Flags().Changed("format") && format != jsonFormat:
		return "", usage("--json is short for --format json: leave out either that or --format %s.", format)
	case asJSON:
		return jsonFormat, nil
	}
	return format, validFormat(format, checkFormats)
}

// validFormat holds the value of --format to those that a command has.
func validFormat(format string, all []string) error {
	if !slices.Contains(all, format) {
		last := len(all) - 1
		return usage("there is no format %q: choose %s or %s.", format, strings.Join(all[:last], ", "), all[last])
	}
	return nil
}

// mainFile is the file that stands for an exercise as a whole, as a report would name it.
func mainFile(c *course.Course, code check.Code) string {
	e, dir := code.Exercise, code.Dir
	if dir == "" {
		dir = course.Relative(filepath.Join(c.Root, e.Folder()))
	}
	return filepath.Join(dir, e.Package+".go")
}

// textReports are for people.
type textReports struct {
	w     io.Writer
	begun bool
}

func (t *textReports) add(r check.Result, _ string) error {
	if t.begun {
		fmt.Fprintln(t.w)
	}
	t.begun = true
	tellOrders(&r)
	return show(t.w, r.Report)
}

func (*textReports) close() error { return nil }

// jsonReports are a document each.
type jsonReports struct{ io.Writer }

func (j jsonReports) add(r check.Result, _ string) error { return report.JSON(j, r.Report) }
func (jsonReports) close() error                         { return nil }

// lineReports are lines as compilers write them.
type lineReports struct{ io.Writer }

func (l lineReports) add(r check.Result, main string) error { return report.Lines(l, r.Report, main) }
func (lineReports) close() error                            { return nil }

// sarifReports are one log, which is written when all are there.
type sarifReports struct {
	w   io.Writer
	all []sarif.Input
}

func (s *sarifReports) add(r check.Result, main string) error {
	s.all = append(s.all, sarif.Input{Report: r.Report, Main: main})
	return nil
}

func (s *sarifReports) close() error { return sarif.Write(s.w, s.all) }

// tellOrders has the report of a pass say how much it leaves to CUDA.
func tellOrders(r *check.Result) {
	if most, ok := prove.Most(*r); ok {
		r.Report.Message = fmt.Sprintf("Your streams leave CUDA a choice: for the %d operations of the case %s, %s orders. "+
			"None goes wrong: see `cudalab prove %s`.",
			most.Orders.Operations, most.ID, most.Orders, r.Report.Exercise)
	}
}

// show writes a report for people.
func show(w io.Writer, r verdict.Report) error {
	s := screenOf(w)
	text, err := reportOn(s, r, false)
	if err != nil {
		return err
	}
	_, err = io.WriteString(s, text)
	return err
}

// reportOn is a report for people, as a screen can show it; brief, the first error is what it is about.
func reportOn(s screen, r verdict.Report, brief bool) (string, error) {
	var b strings.Builder
	err := report.Terminal(&b, r, report.Options{Color: s.color, Width: s.width, Links: s.links, Brief: brief,
		Source: sourceLine})
	return b.String(), err
}

// firstOn is the first error of a report, for so many lines of a screen.
func firstOn(s screen, r verdict.Report, lines int) (string, error) {
	var b strings.Builder
	err := report.First(&b, r, lines, report.Options{Color: s.color, Width: s.width, Links: s.links, Source: sourceLine})
	return b.String(), err
}

// sourceLine reads one line of a file.
func sourceLine(file string, line int) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if n == line {
			return lines.Text()
		}
	}
	return ""
}
