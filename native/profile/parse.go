package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cudalab/native/sim"
)

// Parse reads a file's text. An error says which field is wrong and what was expected.
func Parse(text []byte) (*File, error) {
	if err := syntax(text); err != nil {
		return nil, err
	}
	fields, err := object("the file", text, []string{"schema", "device", "driver", "date", "kept", "constants"})
	if err != nil {
		return nil, err
	}
	if string(fields["schema"]) != strconv.Itoa(schema) {
		return nil, fmt.Errorf("schema is %s, but this cudalab reads schema %d", shown(fields["schema"]), schema)
	}
	f := &File{}
	if f.Profile.Name, err = word("device", fields["device"], "the GPU's name, such as \"NVIDIA L4\"",
		isName); err != nil {
		return nil, err
	}
	if f.Driver, err = word("driver", fields["driver"], "the driver's CUDA version, such as \"13.0\", or \"\"",
		isVersion); err != nil {
		return nil, err
	}
	if f.Date, err = word("date", fields["date"], "a day, such as \"2026-11-21\"", isDay); err != nil {
		return nil, err
	}
	constants := f.Profile.Constants()
	names := make([]string, len(constants))
	for i, c := range constants {
		names[i] = c.Name
	}
	if f.Kept, err = kept(fields["kept"], names); err != nil {
		return nil, err
	}
	values, err := object("constants", fields["constants"], names)
	if err != nil {
		return nil, err
	}
	for _, c := range constants {
		if err := parse(c, values[c.Name]); err != nil {
			return nil, err
		}
		if err := valid(c); err != nil {
			return nil, err
		}
	}
	if err := consistent(&f.Profile); err != nil {
		return nil, err
	}
	return f, nil
}

// syntax says, if so, where a text is no JSON. All that is read of it afterwards is.
func syntax(text []byte) error {
	var whole json.RawMessage
	var wrong *json.SyntaxError
	if !errors.As(json.Unmarshal(text, &whole), &wrong) {
		return nil
	}
	return fmt.Errorf("line %d of the file is no JSON: %w", 1+bytes.Count(text[:wrong.Offset], []byte{'\n'}), wrong)
}

// object reads the fields of a JSON object that has each of some once, and no others. A struct would not do:
// encoding/json lets the second of two fields of one name win, takes any case for a name, and says nothing of a field
// that is missing.
func object(what string, text []byte, names []string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("%s should be a JSON object, in braces", what)
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // before a colon, nothing else gets through
		switch {
		case !slices.Contains(names, name):
			return nil, fmt.Errorf("%s has a field %s, which no profile has", what, shown([]byte(strconv.Quote(name))))
		case fields[name] != nil:
			return nil, fmt.Errorf("%s has the field %s twice", what, name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		fields[name] = value
	}
	for _, name := range names {
		if fields[name] == nil {
			return nil, fmt.Errorf("%s should have a field %s", what, name)
		}
	}
	return fields, nil
}

// mostShown is how much of a wrong value a message quotes, in bytes.
const mostShown = 40

// shown is a value as a message quotes it.
func shown(value []byte) string {
	text := strings.ToValidUTF8(string(value[:min(len(value), mostShown)]), "")
	if len(value) > mostShown {
		text += "..."
	}
	return strings.Join(strings.Fields(text), " ")
}

// number reads a number; encoding/json takes null for one and leaves what it should set.
func number(to any, value json.RawMessage) (ok bool) {
	return string(value) != "null" && json.Unmarshal(value, to) == nil
}

// word reads a string that is what it should be.
func word(name string, value json.RawMessage, expected string, is func(string) bool) (string, error) {
	var text *string
	if err := json.Unmarshal(value, &text); err != nil || text == nil || !is(*text) {
		return "", fmt.Errorf("%s is %s, but should be %s", name, shown(value), expected)
	}
	return *text, nil
}

// isName allows what a terminal, a CSV file and a page can show.
func isName(text string) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	return text != "" && len(text) <= 100 && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, odd)
}

func isVersion(text string) bool {
	major, minor, found := strings.Cut(text, ".")
	digits := func(s string) bool { return s != "" && len(s) < 4 && strings.Trim(s, "0123456789") == "" }
	return text == "" || found && digits(major) && digits(minor)
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// kept reads the names of the constants that were not measured.
func kept(value json.RawMessage, names []string) ([]string, error) {
	var list []string
	if err := json.Unmarshal(value, &list); err != nil || list == nil {
		return nil, fmt.Errorf("kept is %s, but should be a list of the names of constants, such as [] or [\"queue_depth\"]",
			shown(value))
	}
	for _, name := range list {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("kept names %s, which is no constant of a profile", shown([]byte(strconv.Quote(name))))
		}
	}
	return list, nil
}

// parse reads a constant.
func parse(c sim.Constant, value json.RawMessage) error {
	switch v := c.Value.(type) {
	case *sim.Curve:
		return parseCurve(c.Name, v, value)
	case *[2]int:
		expected := fmt.Errorf("%s is %s, but should be a string such as \"8.9\"", c.Name, shown(value))
		var text string
		if json.Unmarshal(value, &text) != nil {
			return expected
		}
		major, minor, _ := strings.Cut(text, ".")
		var err1, err2 error
		v[0], err1 = strconv.Atoi(major)
		v[1], err2 = strconv.Atoi(minor)
		if err1 != nil || err2 != nil {
			return expected
		}
		return nil
	}
	if !number(c.Value, value) {
		return fmt.Errorf("%s is %s, but should be %v", c.Name, shown(value), boundOf(c.Name))
	}
	return nil
}

// parseCurve reads the points of a curve.
func parseCurve(name string, c *sim.Curve, value json.RawMessage) error {
	var points []json.RawMessage
	if err := json.Unmarshal(value, &points); err != nil {
		return fmt.Errorf(`%s is %s, but should be a list of points such as {"bytes": 4096, "ns": 27500}`, name, shown(value))
	}
	for i, text := range points[:min(len(points), mostPoints+1)] {
		what := fmt.Sprintf("point %d of %s", i+1, name)
		fields, err := object(what, text, []string{"bytes", "ns"})
		if err != nil {
			return err
		}
		var point sim.Point
		if !number(&point.Bytes, fields["bytes"]) {
			return fmt.Errorf("%s is for %s bytes, but should be for %v", what, shown(fields["bytes"]), curveBytes)
		}
		if !number(&point.Nanos, fields["ns"]) {
			return fmt.Errorf("%s is %s, but should be %v", what, shown(fields["ns"]), nanoseconds)
		}
		*c = append(*c, point)
	}
	return nil
}
