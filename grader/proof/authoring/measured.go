package authoring

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/proof/corpus"
	"cudalab/lessons"
)

// measured are the tables of the instructors' chapters, by the names of their places there, made of what tests have
// recorded. A lesson of which something is not recorded yet is left out of that table.
func measured(course fs.FS, exercises []lessons.Exercise) (map[string]string, error) {
	tables := map[string]string{"scores": scores(course, exercises), "orders": orders(course, exercises)}
	for _, device := range []string{"sim", "gpu"} {
		var matrices []string
		for _, e := range exercises {
			if text, err := fs.ReadFile(course, filepath.ToSlash(corpus.MatrixFile("", e.Package, device))); err == nil {
				matrices = append(matrices, string(text))
			}
		}
		sum, err := corpus.Sum(matrices...)
		if err != nil {
			return nil, err
		}
		tables[device] = block(sum)
	}
	similar, err := fs.ReadFile(course, "grader/class/similar/testdata/measured.txt")
	tables["similar"] = string(similar)
	if errors.Is(err, fs.ErrNotExist) { // in a course outside of this repository
		return tables, nil
	}
	return tables, err
}

func block(text string) string { return "```text\n" + strings.TrimSpace(text) + "\n```\n" }

// scores is how many of each solution's mutants were found.
func scores(course fs.FS, exercises []lessons.Exercise) string {
	table := ""
	for _, e := range exercises {
		text, err := fs.ReadFile(course, "grader/proof/mutants/testdata/scores/"+e.Name+".txt")
		if err != nil {
			continue
		}
		lines := strings.SplitAfterN(string(text), "\n", 3)
		if table == "" {
			table = lines[0]
		}
		table += lines[1]
	}
	return block(table)
}

// orders is how many faults of the lessons' programs were shown by an order that CUDA may choose.
func orders(course fs.FS, exercises []lessons.Exercise) string {
	type sum struct{ faults, shown, short, longest int }
	sums := map[string]sum{}
	cases, several := 0, 0
	for _, e := range exercises {
		text, _ := fs.ReadFile(course, testdata(e)+"/orders.txt")
		for _, line := range strings.Split(string(text), "\n") {
			words := strings.Fields(line)
			var one sum
			if k := len(words) - 4; k > 0 {
				numbers := strings.Join(words[k:], " ")
				if n, _ := fmt.Sscan(numbers, &one.faults, &one.shown, &one.short, &one.longest); n == 4 {
					rule := strings.Join(words[:k], " ")
					s := sums[rule]
					sums[rule] = sum{s.faults + one.faults, s.shown + one.shown, s.short + one.short, max(s.longest, one.longest)}
				}
			}
			var all, some int
			if n, _ := fmt.Sscanf(line, "cases of right programs: %d, of which %d", &all, &some); n == 2 {
				cases, several = cases+all, several+some
			}
		}
	}
	var b strings.Builder
	b.WriteString("| rule | faults | shown by an order | in at most 8 steps | the longest |\n")
	b.WriteString("|---|--:|--:|--:|--:|\n")
	for _, rule := range slices.Sorted(maps.Keys(sums)) {
		s := sums[rule]
		fmt.Fprintf(&b, "| `%s` | %d | %d | %d | %d |\n", rule, s.faults, s.shown, s.short, s.longest)
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "The right programs were run in %d cases without a fault, of which %d leave CUDA a choice.\n",
		cases, several)
	return b.String()
}
