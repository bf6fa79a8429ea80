package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seenShare is how many of all gaps at least have to show a mistake while the gaps behind them are open.
const seenShare = 0.8

// Each lesson's own test sees to it that what is wanted is found.
func TestAMistakeIsSeenBeforeTheLastGap(t *testing.T) {
	const root = "../../.."
	files, err := filepath.Glob(filepath.Join(root, Folder("*"), gapsFile))
	require.NoError(t, err)
	exercises, err := os.ReadDir(filepath.Join(root, "solutions"))
	require.NoError(t, err)
	require.Len(t, files, len(exercises), "each lesson has mistakes in its gaps")
	all, seen := 0, 0
	for _, e := range exercises {
		steps, err := Steps(root, e.Name())
		require.NoError(t, err)
		for _, s := range steps {
			all++
			if s.Unseen == "" {
				seen++
				continue
			}
			t.Logf("%s %s is not seen, %s", e.Name(), s.Gap, s.Unseen)
		}
	}
	t.Logf("seen in %d of %d gaps", seen, all)
	require.GreaterOrEqual(t, float64(seen), seenShare*float64(all))
}

const (
	tallySkeleton = `package tally

import "cudalab/exercises/contract"

func Sum(numbers []int) (int, error) {
	// TODO(1a): Refuse no numbers.
	if err := contract.TODO("1a"); err != nil {
		return 0, err
	}

	// TODO(1b): Add them up.
	return 0, contract.TODO("1b")
}

func (t *Tally) Mean() (int, error) {
	return 0, contract.TODO("2a")
}
`
	tallySolution = `package tally

import (
	"errors"

	"cudalab/exercises/contract"
)

func Sum(numbers []int) (int, error) {
	least := 1
	if len(numbers) < least {
		return 0, errors.Join(contract.ErrArgument)
	}
	total := 0

	for _, n := range numbers {
		total += n
	}
	return total, nil
}

func (t *Tally) Mean() (int, error) {
	return t.total / t.count, nil
}
`
)

func TestAFunctionIsFilledUpToAGap(t *testing.T) {
	made, err := fillUpTo(tallySkeleton, tallySolution, "1a", map[string]string{"1a": "for _, n := range numbers {"})
	require.NoError(t, err)
	require.Equal(t, `package tally

import (
	"errors"

	"cudalab/exercises/contract"
)

func Sum(numbers []int) (int, error) {
	least := 1
	if len(numbers) < least {
		return 0, errors.Join(contract.ErrArgument)
	}
	total := 0
	_ = total

	// TODO(1b): Add them up.
	return 0, contract.TODO("1b")
}

func (t *Tally) Mean() (int, error) {
	return 0, contract.TODO("2a")
}
`, made)

	made, err = fillUpTo(tallySkeleton, tallySolution, "1b", nil)
	require.NoError(t, err)
	require.Contains(t, made, "return total, nil")
	require.Contains(t, made, `contract.TODO("2a")`)

	made, err = fillUpTo(tallySkeleton, tallySolution, "2a", nil)
	require.NoError(t, err)
	require.Equal(t, tallySolution, made)

	_, err = fillUpTo(tallySkeleton, tallySolution, "1a", nil)
	require.ErrorContains(t, err, "Sum has gaps behind 1a: say in cuts.txt which line of the solution is the first "+
		"behind its code")
	_, err = fillUpTo(tallySkeleton, tallySolution, "1a", map[string]string{"1a": "nowhere"})
	require.ErrorContains(t, err, `ends before a line that the solution's Sum does not have: "nowhere"`)
	_, err = fillUpTo(strings.ReplaceAll(tallySkeleton, "Mean", "Median"), tallySolution, "1a", nil)
	require.ErrorContains(t, err, "the skeleton has no function *Tally.Mean")
}

func TestEveryGapHasOneMistake(t *testing.T) {
	steps := func() []step { return []step{{Gap: "1a", Next: "1b"}, {Gap: "1b"}} }
	program := func(name, text string) Program { return Program{Kind: gap, Name: name, Text: text} }
	const want, because = "x() // want: leak\n", "//cudalab:unseen because nothing uses it\n"

	s := steps()
	require.NoError(t, mistaken("gaps.diff", s, []Program{program("1a-x", want), program("1b-y", because)}))
	require.Equal(t, "gap/1a-x", s[0].Wrong.String())
	require.Empty(t, s[0].Unseen)
	require.Equal(t, "because nothing uses it", s[1].Unseen)

	err := mistaken("gaps.diff", steps(), []Program{program("1a-x", want), program("1a-y", want), program("3a-x", want),
		{Kind: Wrong, Name: "1b-x", Text: want}})
	require.ErrorContains(t, err, "gaps.diff: gap/1a-x and gap/1a-y are mistakes in the same gap")
	require.ErrorContains(t, err, "gaps.diff: gap/3a-x is no mistake in a gap")
	require.ErrorContains(t, err, "gaps.diff: wrong/1b-x is no mistake in a gap")
	require.ErrorContains(t, err, "gaps.diff: there is no mistake in the gap 1b")
	require.ErrorContains(t, mistaken("gaps.diff", steps(), []Program{program("1a-x", "x()\n")}),
		"gap/1a-x has to say what is wanted")
	require.ErrorContains(t, mistaken("gaps.diff", steps(), []Program{program("1a-x", want+because)}),
		"gap/1a-x has to say what is wanted")
}
