package suite

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

type everything struct{ error }

func (everything) As(any) bool { return true }

type anything struct{ error }

func (*anything) Is(error) bool { return true }

type circle struct{}

func (circle) Error() string { return "round" }
func (circle) Unwrap() error { return circle{} }

type needy struct{ text string }

func (n *needy) Error() string { return n.text }

type modest struct{}

func (*modest) Error() string { return "a nil pointer is all that it needs" }

type careless struct{}

func (careless) Error() string { panic("careless") }

// kept is what a case keeps of an error.
func kept(err error) (o verdict.Outcome) {
	guard(&o, func() error { return err })
	return o
}

func TestAnErrorIsLookedAtBeforeItIsBelieved(t *testing.T) {
	sound := func(text string) verdict.Outcome { return verdict.Outcome{Err: text} }
	var none *cuda.Error
	for name, tt := range map[string]struct {
		err  error
		want verdict.Odd
	}{
		"a nil of CUDA's": {none, verdict.Odd{Rule: RuleTypedNil, What: "*cuda.Error"}},
		"a nil of CUDA's, wrapped": {fmt.Errorf("with words: %w", none), verdict.Odd{Rule: RuleTypedNil,
			What: "*cuda.Error"}},
		"a nil gap":              {(*contract.Gap)(nil), verdict.Odd{Rule: RuleTypedNil, What: "*contract.Gap"}},
		"a nil of the student's": {(*needy)(nil), verdict.Odd{Rule: RuleTypedNil, What: "*suite.needy"}},
		"one of many": {errors.Join(contract.ErrArgument, (*needy)(nil)), verdict.Odd{Rule: RuleTypedNil,
			What: "*suite.needy"}},
		"As says yes to everything": {everything{contract.ErrArgument}, verdict.Odd{Rule: ruleLyingError, What: "As"}},
		"Is says yes to everything": {&anything{contract.ErrArgument}, verdict.Odd{Rule: ruleLyingError, What: "Is"}},
		"Unwrap comes to no end":    {circle{}, verdict.Odd{Rule: RuleEndlessError, What: "Unwrap"}},
		"a liar deep inside another": {fmt.Errorf("%w", fmt.Errorf("%w", everything{none})), verdict.Odd{Rule: ruleLyingError,
			What: "As"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := kept(tt.err)
			require.Equal(t, tt.want, o.Odd)
			require.False(t, o.OK())
			require.Empty(t, o.Panic)
			if tt.want.Rule != RuleTypedNil {
				require.Contains(t, o.Stack[0].File, "odd_test.go")
				require.Regexp(t, `\.(Is|As|Unwrap)$`, o.Stack[0].Func)
				require.Zero(t, o.Stack[0].Line, "of the method as a whole")
			}
		})
	}
	require.Equal(t, verdict.Outcome{}, kept(nil))
	require.Equal(t, sound("a nil pointer is all that it needs"), kept((*modest)(nil)))
	require.Equal(t, verdict.Outcome{Err: "words: invalid argument", Argument: true},
		kept(fmt.Errorf("words: %w", contract.ErrArgument)))
	require.Equal(t, verdict.Outcome{Err: "TODO(1a) is still to be written", Gap: "1a"}, kept(contract.TODO("1a")))
	require.Equal(t, "an error without a text", kept(errors.New("")).Err)
	require.Equal(t, "careless", kept(careless{}).Panic)
}
