package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cudalab/native/device"
)

// Recording is the answers of one device: what a file in testdata holds.
type Recording struct {
	Header  []string            // "device: NVIDIA H200"
	Answers map[string][]string // by row
}

// Record runs the whole table twice. A row that answers differently the second time is an error: such an answer holds
// nobody to anything.
func Record(d device.Device, rows []Row, now time.Time) (*Recording, error) {
	info := d.Info()
	rec := &Recording{
		Header: []string{
			"device: " + info.Name, "driver: " + info.Driver, "date: " + now.UTC().Format(time.DateOnly),
		},
		Answers: map[string][]string{},
	}
	if err := Warm(d); err != nil {
		return nil, err
	}
	var unsteady []string
	for _, r := range rows {
		first, second := r.Answers(d), r.Answers(d)
		rec.Answers[r.Name] = first
		if diff := Diff(first, second); diff != "" {
			unsteady = append(unsteady, r.Name+" answered differently the second time:\n"+diff)
		}
	}
	if len(unsteady) > 0 {
		return rec, fmt.Errorf("not recorded:\n%s", strings.Join(unsteady, "\n"))
	}
	return rec, nil
}

// Format writes a recording for people to read and Parse to read back: the header, then each row's name, its note and,
// indented, its answers.
func Format(rec *Recording, rows []Row) string {
	var b strings.Builder
	for _, h := range rec.Header {
		fmt.Fprintf(&b, "# %s\n", h)
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "\n%s\n", r.Name)
		if r.Note != "" {
			fmt.Fprintf(&b, "# %s\n", r.Note)
		}
		for _, line := range rec.Answers[r.Name] {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return b.String()
}

// Parse reads what Format wrote.
func Parse(text string) (*Recording, error) {
	rec := &Recording{Answers: map[string][]string{}}
	row := ""
	for i, line := range strings.Split(text, "\n") {
		comment, isComment := strings.CutPrefix(line, "# ")
		answer, isAnswer := strings.CutPrefix(line, "    ")
		switch {
		case line == "":
		case isComment && row == "":
			rec.Header = append(rec.Header, comment)
		case isComment:
		case isAnswer && row != "":
			rec.Answers[row] = append(rec.Answers[row], answer)
		case isAnswer:
			return nil, fmt.Errorf("line %d: an answer without a row before it", i+1)
		default:
			if _, twice := rec.Answers[line]; twice {
				return nil, fmt.Errorf("line %d: row %s is there twice", i+1, line)
			}
			row = line
			rec.Answers[row] = nil
		}
	}
	return rec, nil
}

// Diff compares two rows' answers. It is empty if they are equal, and else every line: with "-" in front if only
// want has it, "+" if only got has it.
func Diff(want, got []string) string {
	if slices.Equal(want, got) {
		return ""
	}
	var b strings.Builder
	for i := range max(len(want), len(got)) {
		switch {
		case i < len(want) && i < len(got) && want[i] == got[i]:
			fmt.Fprintf(&b, "      %s\n", want[i])
			continue
		case i < len(want):
			fmt.Fprintf(&b, "    - %s\n", want[i])
		}
		if i < len(got) {
			fmt.Fprintf(&b, "    + %s\n", got[i])
		}
	}
	return b.String()
}
