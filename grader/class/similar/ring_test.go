package similar_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/similar"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/suites/course"
)

// classSize is how many hand in where a program goes round.
const classSize = 60

// ringSizes are how many have one program.
var ringSizes = []int{2, 20, 25, 59}

// rings measures what is told of one program that went round in a class: how many of those who have it are listed with
// another of them, as a pair or in a text of many; and how many others are in that text. The others are programs of the
// corpus, right and wrong.
func rings(t *testing.T, check *checker, c *course.Course) string {
	t.Helper()
	ways := append([]string{"verbatim"}, kinds[:6]...)
	var b strings.Builder
	b.WriteString("| exercise | copies |")
	for _, way := range ways {
		fmt.Fprintf(&b, " %s |", way)
	}
	b.WriteString(" others in their text |\n|---|--:|" + strings.Repeat("--:|", len(ways)+1) + "\n")
	for _, name := range []string{"pool-config", "slab", "buddy", "tracker"} {
		e, err := c.Find(name)
		require.NoError(t, err)
		all, err := corpus.Programs(root, e.Package)
		require.NoError(t, err)
		authors, base := classOf(t, check, e), baseOf(t, e)
		origin := authors[slices.IndexFunc(authors, func(a author) bool { return a.kind == "" })].Files[0].Text
		copies := map[string][]string{}
		for _, way := range ways {
			copies[way] = disguised(check, way, origin)
		}
		for _, size := range ringSizes {
			fmt.Fprintf(&b, "| %s | %d |", name, size)
			falsely := 0
			for _, way := range ways {
				var class []similar.Program
				for i := range size {
					class = append(class, program(fmt.Sprint("copy ", i), copies[way][i%len(copies[way])]))
				}
				for i := 0; len(class) < classSize; i++ {
					if p := all[i*7%len(all)]; p.Text != origin {
						class = append(class, program(fmt.Sprint("other ", i), p.Text))
					}
				}
				result := compared(t, base, class...)
				found, others := told(result, size)
				falsely += others
				for _, p := range result.Programs[:size] {
					require.False(t, p.TooLittle(), "%s, %d copies, %s", name, size, way)
				}
				fmt.Fprintf(&b, " %s |", of(found, size))
			}
			fmt.Fprintf(&b, " %s |\n", of(falsely, len(ways)*(classSize-size)))
		}
	}
	return b.String()
}

// disguised are a program's copies, each made by itself.
func disguised(check *checker, way, origin string) []string {
	copies := []string{origin}
	r := rand.New(rand.NewPCG(5, 6))
	for _, d := range disguises {
		for range 10 {
			if d.name != way {
				break
			}
			if made, ok := d.make(check, r, origin); ok {
				copies = append(copies, made)
			}
		}
	}
	return copies
}

// told is how many of the first programs of a class are listed with another of these, and how many others are in a text
// that most of them have.
func told(r *similar.Result, size int) (found, others int) {
	listed := make([]bool, len(r.Programs))
	for _, p := range r.Pairs {
		if p.B < size {
			listed[p.A], listed[p.B] = true, true
		}
	}
	most := 0
	for _, s := range r.Shared {
		of, strangers := 0, 0
		for _, i := range s.In {
			of += one(i < size)
			strangers += one(i >= size)
		}
		for _, i := range s.In {
			listed[i] = listed[i] || of > 1
		}
		if 2*of > size && s.Tokens > most { // it is their program, and no turn of phrase that they have with others
			most, others = s.Tokens, strangers
		}
	}
	for _, yes := range listed[:size] {
		found += one(yes)
	}
	return found, others
}
