package policy

import (
	"fmt"
	"strings"
)

// lines are where the keys of a TOML file stand. The decoder tells the line of what it cannot read, but not of what it
// could.
type lines struct {
	keys map[string]int // "deadline.due", "student[1].id", and tables: "student[1]"
}

func newLines(text string) *lines {
	l := &lines{keys: map[string]int{}}
	table, count := "", map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		name, isArray := strings.CutPrefix(line, "[[")
		header, isTable := strings.CutPrefix(line, "[")
		switch key, _, isKey := strings.Cut(line, "="); {
		case isArray:
			name = plain(strings.TrimRight(strings.TrimSpace(name), "]"))
			table = fmt.Sprintf("%s[%d]", name, count[name])
			count[name]++
			l.note(table, i+1)
		case isTable:
			table = plain(strings.TrimRight(strings.TrimSpace(header), "]"))
			l.note(table, i+1)
		case isKey && table != "":
			l.note(table+"."+plain(key), i+1)
		case isKey:
			l.note(plain(key), i+1)
		}
	}
	return l
}

func (l *lines) note(key string, line int) {
	if _, twice := l.keys[key]; !twice {
		l.keys[key] = line
	}
}

// plain is a key without its quotes and blanks.
func plain(key string) string {
	return strings.NewReplacer(`"`, "", "'", "", " ", "", "\t", "").Replace(key)
}

// of is the line of a key, or of the nearest table around it.
func (l *lines) of(key ...string) int {
	for n := len(key); n > 0; n-- {
		name := strings.Join(key[:n], ".")
		if line, ok := l.keys[name]; ok {
			return line
		}
		if array, ok := l.keys[key[0]+"[0]"]; ok && n == 1 {
			return l.firstIn(key, array)
		}
	}
	return 1
}

// firstIn is the line of the first table of an array with a key.
func (l *lines) firstIn(key []string, otherwise int) int {
	for i := 0; ; i++ {
		table := fmt.Sprintf("%s[%d]", key[0], i)
		if _, ok := l.keys[table]; !ok {
			return otherwise
		}
		if line, ok := l.keys[table+"."+strings.Join(key[1:], ".")]; ok {
			return line
		}
	}
}

// in is the line of a key in the i-th table of an array, or of the table.
func (l *lines) in(array string, i int, key string) int {
	table := fmt.Sprintf("%s[%d]", array, i)
	if line, ok := l.keys[table+"."+key]; ok {
		return line
	}
	if line, ok := l.keys[table]; ok {
		return line
	}
	return l.of(array)
}
