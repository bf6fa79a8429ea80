package ptx

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
)

// TestProgramsOfTheLessonAreTranslated has the right programs of device-bump allocate as the solution does, whatever
// their style. A wrong one is translated as well, unless that is what is wrong with it.
func TestProgramsOfTheLessonAreTranslated(t *testing.T) {
	programs, err := corpus.Programs("../../..", "devicebump")
	require.NoError(t, err)
	solution, err := corpus.Find("../../..", "devicebump", string(corpus.Solution))
	require.NoError(t, err)
	want := translated(t, solution.Text)
	r := rand.New(rand.NewPCG(1, 2))
	right, others := 0, 0
	for _, p := range programs {
		switch p.Kind {
		case corpus.Right:
			right++
			m := translated(t, p.Text)
			for range 300 {
				taken, capacity := 16*r.Uint64N(20), 16*r.Uint64N(20)
				taken = min(taken, capacity)
				size := r.Uint64N(100)
				if r.IntN(5) == 0 {
					size = -r.Uint64N(40)
				}
				w, v := alone(taken), alone(taken)
				expected, _, err := want.run(&w, 0, capacity, size)
				require.NoError(t, err)
				got, status, err := m.run(&v, 0, capacity, size)
				require.NoError(t, err)
				require.Equal(t, Returned, status, p)
				require.Equal(t, expected(1), got(1), "%s: %d of %d with %d taken", p, size, capacity, taken)
				if expected(1) == 1 {
					require.Equal(t, expected(0), got(0), "%s: %d of %d with %d taken", p, size, capacity, taken)
				}
				require.Equal(t, w, v, p)
			}
		case corpus.Wrong:
			others++
			_, err := Translate(map[string][]byte{"p.go": []byte(p.Text)}, "Alloc", "alloc")
			if slices.Contains(p.Expect().Fails, "device") {
				assert.ErrorAs(t, err, new(*Refusal), p)
			} else {
				assert.NoError(t, err, p)
			}
		}
	}
	require.Greater(t, right, 10)
	require.Greater(t, others, 50)
}
