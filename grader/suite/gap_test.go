package suite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
)

// A gap in a function that answers no error panics, and is a gap all the same.
func TestAGapMayPanic(t *testing.T) {
	var o Outcome
	guard(&o, func() error { panic(contract.TODO("1c")) })
	require.Equal(t, Outcome{Gap: "1c", Err: "TODO(1c) is still to be written"}, o)

	o = Outcome{}
	guard(&o, func() error { panic((*contract.Gap)(nil)) })
	require.Empty(t, o.Gap)
	require.NotEmpty(t, o.Panic)
}
