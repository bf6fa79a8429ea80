package guarded

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// What stands in a program's file, as support.txt says.
const (
	first, second = 0x6ead7a3d5f1e4c29, 0x31c8e6b70ad9f452
	sticky        = 1
	recording     = 2

	numbers = 9
)

// entered is what a program prints when something wrong is entered, and observed what begins a line of Seen.
const (
	entered  = "guarded: entered\n"
	recorded = "guarded:"
	noted    = "guarded: noted"
)

// chosen is a program's file with a pair chosen.
func chosen(file []byte, p Pair) ([]byte, error) { return with(file, p.numbers()...) }

// noting is the same, and prints sums of what it does, from about so many calls on; with the zero Pair it is right.
func noting(file []byte, p Pair, from int64) ([]byte, error) {
	return with(file, append(p.numbers(), from+1)...)
}

func (p Pair) numbers() []int64 {
	if p.function == nil {
		return make([]int64, 6)
	}
	return []int64{int64(p.number), int64(p.function.index), int64(p.variable), int64(p.relation), p.constant, p.mode}
}

// observing is a program's file that is right and prints what it observes.
func observing(file []byte) ([]byte, error) { return with(file, 0, 0, 0, 0, 0, recording) }

func with(file []byte, values ...int64) ([]byte, error) {
	var mark []byte
	mark = binary.LittleEndian.AppendUint64(mark, first)
	mark = binary.LittleEndian.AppendUint64(mark, second)
	if n := bytes.Count(file, mark); n != 1 {
		return nil, fmt.Errorf("the program has %d places for its number", n)
	}
	file = bytes.Clone(file)
	at := file[bytes.Index(file, mark)+len(mark):]
	for i := range numbers - 2 {
		v := int64(0)
		if i < len(values) {
			v = values[i]
		}
		binary.LittleEndian.PutUint64(at[8*i:], uint64(v))
	}
	return file, nil
}

// seenIn reads what a program printed that was observing.
func seenIn(output string) Seen {
	seen := Seen{}
	for line := range strings.Lines(output) {
		var f, variable int
		var v int64
		if n, _ := fmt.Sscanf(line, recorded+" %d %d %d", &f, &variable, &v); n == 3 {
			key := [2]int{f, variable}
			seen[key] = append(seen[key], v)
		}
	}
	return seen
}

// notedIn is what a program printed that was noting.
func notedIn(output string) (all []string) {
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, noted) {
			all = append(all, line)
		}
	}
	return all
}
