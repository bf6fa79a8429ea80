package suite

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
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
func kept(err error) (o Outcome) {
	guard(&o, func() error { return err })
	return o
}

func TestAnErrorIsLookedAtBeforeItIsBelieved(t *testing.T) {
	sound := func(text string) Outcome { return Outcome{Err: text} }
	var none *cuda.Error
	for name, tt := range map[string]struct {
		err  error
		want Odd
	}{
		"a nil of CUDA's":            {none, Odd{RuleTypedNil, "*cuda.Error"}},
		"a nil of CUDA's, wrapped":   {fmt.Errorf("with words: %w", none), Odd{RuleTypedNil, "*cuda.Error"}},
		"a nil gap":                  {(*contract.Gap)(nil), Odd{RuleTypedNil, "*contract.Gap"}},
		"a nil of the student's":     {(*needy)(nil), Odd{RuleTypedNil, "*suite.needy"}},
		"one of many":                {errors.Join(contract.ErrArgument, (*needy)(nil)), Odd{RuleTypedNil, "*suite.needy"}},
		"As says yes to everything":  {everything{contract.ErrArgument}, Odd{RuleLyingError, "As"}},
		"Is says yes to everything":  {&anything{contract.ErrArgument}, Odd{RuleLyingError, "Is"}},
		"Unwrap comes to no end":     {circle{}, Odd{RuleEndlessError, "Unwrap"}},
		"a liar deep inside another": {fmt.Errorf("%w", fmt.Errorf("%w", everything{none})), Odd{RuleLyingError, "As"}},
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
	require.Equal(t, Outcome{}, kept(nil))
	require.Equal(t, sound("a nil pointer is all that it needs"), kept((*modest)(nil)))
	require.Equal(t, Outcome{Err: "words: invalid argument", Argument: true}, kept(fmt.Errorf("words: %w", contract.ErrArgument)))
	require.Equal(t, Outcome{Err: "TODO(1a) is still to be written", Gap: "1a"}, kept(contract.TODO("1a")))
	require.Equal(t, "an error without a text", kept(errors.New("")).Err)
	require.Equal(t, "careless", kept(careless{}).Panic)
}
