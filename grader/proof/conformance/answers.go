package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cudalab/native/device"
)

// recording is the answers of one device: what a file in testdata holds.
type recording struct {
	Header  []string            // "device: NVIDIA H200"
	Answers map[string][]string // by row
}

// recordAnswers runs the whole table twice. A row that answers differently the second time is an error: such an answer
// holds nobody to anything.
func recordAnswers(d device.Device, rows []row, now time.Time) (*recording, error) {
	info := d.Info()
	rec := &recording{
		Header: []string{
			"device: " + info.Name, "driver: " + info.Driver, "date: " + now.UTC().Format(time.DateOnly),
		},
		Answers: map[string][]string{},
	}
	if err := warm(d); err != nil {
		return nil, err
	}
	var unsteady []string
	for _, r := range rows {
		first, second := r.answers(d), r.answers(d)
		rec.Answers[r.Name] = first
		if diff := diff(first, second); diff != "" {
			unsteady = append(unsteady, r.Name+" answered differently the second time:\n"+diff)
		}
	}
	if len(unsteady) > 0 {
		return rec, fmt.Errorf("not recorded:\n%s", strings.Join(unsteady, "\n"))
	}
	return rec, nil
}

// format writes a recording for people to read and parse to read back: the header, then each row's name, its note and,
// indented, its answers.
func format(rec *recording, rows []row) string {
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

// parse reads what format wrote.
func parse(text string) (*recording, error) {
	rec := &recording{Answers: map[string][]string{}}
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

// diff compares two rows' answers. It is empty if they are equal, and else every line: with "-" in front if only
// want has it, "+" if only got has it.
func diff(want, got []string) string {
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
