// Package profile keeps the profile of a GPU in a file, so that it can be handed out: what the simulated device has and
// what its operations cost, measured by `cudalab calibrate`. A file is read strictly, because a profile with a slip in
// it would make wrong times without a word.
package profile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"cudalab/native/codec"
	"cudalab/native/sim"
)

// schema is the version of the file's form. The units are the last parts of the constants' names.
const schema = 3

// File is a profile with where it comes from.
type File struct {
	Profile sim.Profile
	Driver  string   // the CUDA version of the driver that it was measured with, "13.0"; "" of a simulated device
	Date    string   // of the measurement, "2026-11-21"
	Kept    []string // names of the constants that could not be measured and are the built-in profile's
}

// Keep takes the built-in profile's value for the constants that are so named, and for those whose own value a file
// could not hold, and lists them as kept.
func (f *File) Keep(named func(name string) bool) {
	own, builtIn := f.Profile.Constants(), sim.H200
	f.Kept = []string{}
	for i, c := range builtIn.Constants() {
		if named(c.Name) || valid(own[i]) != nil {
			set(own[i].Value, c.Value)
			f.Kept = append(f.Kept, c.Name)
		}
	}
}

// set copies the value of one constant to another of its type.
func set(to, from any) {
	switch to := to.(type) {
	case *int:
		*to = *from.(*int)
	case *int64:
		*to = *from.(*int64)
	case *uint64:
		*to = *from.(*uint64)
	case *[2]int:
		*to = *from.(*[2]int)
	case *sim.Curve:
		*to = slices.Clone(*from.(*sim.Curve))
	default:
		panic(fmt.Sprintf("profile: a constant is a %T", to))
	}
}

// Digest tells two profiles apart: it covers the device's name and every constant. It is "" for nil, which stands for
// the built-in profile.
func Digest(p *sim.Profile) string {
	if p == nil {
		return ""
	}
	var w codec.Writer
	p.Encode(&w)
	sum := sha256.Sum256(w.Bytes())
	return hex.EncodeToString(sum[:8])
}

// Load reads the file at a path. An error says, in sentences, what is wrong with it; it is fs.ErrNotExist where there
// is none.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the profile cannot be read: %w", err)
	}
	f, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no profile of a GPU: %w. `cudalab calibrate` writes one", path, err)
	}
	return f, nil
}

// Text is the file, which Parse reads.
func (f *File) Text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"schema\": %d,\n  \"device\": %s,\n  \"driver\": %s,\n  \"date\": %s,\n", schema,
		quote(f.Profile.Name), quote(f.Driver), quote(f.Date))
	b.WriteString("  \"kept\": [")
	for i, name := range f.Kept {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(name))
	}
	b.WriteString("],\n  \"constants\": {")
	for i, c := range f.Profile.Constants() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    %q: %s", c.Name, constantText(c.Value))
	}
	b.WriteString("\n  }\n}\n")
	return b.Bytes()
}

func quote(text string) string {
	quoted, _ := json.Marshal(text) // of a string there is no error
	return string(quoted)
}

// constantText is a constant as JSON.
func constantText(value any) string {
	switch v := value.(type) {
	case *int:
		return fmt.Sprint(*v)
	case *int64:
		return fmt.Sprint(*v)
	case *uint64:
		return fmt.Sprint(*v)
	case *[2]int:
		return fmt.Sprintf(`"%d.%d"`, v[0], v[1])
	case *sim.Curve:
		var b bytes.Buffer
		for i, point := range *v {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, `{"bytes": %d, "ns": %d}`, point.Bytes, point.Nanos)
		}
		return "[" + b.String() + "]"
	}
	panic(fmt.Sprintf("profile: a constant is a %T", value))
}
