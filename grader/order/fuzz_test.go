package order

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/codec"
	"cudalab/native/trace"
)

// FuzzCheck checks and draws whatever can be read as a trace: what a runner sends need not be what a session records.
func FuzzCheck(f *testing.F) {
	for _, s := range allScenarios() {
		var w codec.Writer
		s.handmade().Encode(&w)
		f.Add(w.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		made, err := trace.Decode(codec.NewReader(b))
		if err != nil {
			return
		}
		found := Check(made)
		require.Equal(t, found, Check(made), "the same trace has the same findings")
		for _, x := range found {
			require.Contains(t, []Severity{Error, Remark}, x.Severity)
			require.True(t, 0 <= x.At && x.At < len(made.Records))
			for _, related := range x.Related {
				require.True(t, 0 <= related.At && related.At < len(made.Records))
				require.NotEmpty(t, related.Note)
			}
			for _, sentence := range []string{x.Message, x.Why, x.Fix} {
				require.Regexp(t, `[.?]$`, sentence)
			}
			Picture(made, x)
		}
		Of(made).Wait(0, len(made.Records)-1)
	})
}
