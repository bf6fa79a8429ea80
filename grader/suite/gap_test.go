package suite

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/verdict"
)

// A gap in a function that answers no error panics, and is a gap all the same.
func TestAGapMayPanic(t *testing.T) {
	var o verdict.Outcome
	guard(&o, func() error { panic(contract.TODO("1c")) })
	require.Equal(t, verdict.Outcome{Gap: "1c", Err: "TODO(1c) is still to be written"}, o)

	o = verdict.Outcome{}
	guard(&o, func() error { panic((*contract.Gap)(nil)) })
	require.Empty(t, o.Gap)
	require.NotEmpty(t, o.Panic)
}

// What is joined with a gap is told: the code beside the gap ran, and failed.
func TestWhatAnErrorSaysBesideAGap(t *testing.T) {
	refused := errors.New("refused")
	for _, c := range []struct {
		err     error
		besides bool
		text    string
	}{
		{contract.TODO("1e"), false, "TODO(1e) is still to be written"},
		{fmt.Errorf("release: %w", contract.TODO("1e")), false, "release: TODO(1e) is still to be written"},
		{errors.Join(contract.TODO("1e"), contract.TODO("1f")), false,
			"TODO(1e) is still to be written\nTODO(1f) is still to be written"},
		{errors.Join(refused, contract.TODO("1f")), true, "refused"},
		{fmt.Errorf("both: %w", errors.Join(contract.TODO("1e"), fmt.Errorf("fill: %w", refused))), false,
			"both: TODO(1e) is still to be written\nfill: refused"},
	} {
		var o verdict.Outcome
		guard(&o, func() error { return c.err })
		require.NotEmpty(t, o.Gap, c.text)
		require.Equal(t, c.besides, o.Besides, c.text)
		require.Equal(t, c.text, o.Err)
		require.Equal(t, c.besides, UnexpectedError("Run", o).Gap == "", "only what comes of the gap alone is left to it")
	}
}
