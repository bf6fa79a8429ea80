package class

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// Results of one device's profile do not stand beside those of another's, not even where the devices have one name.
func TestProfilesAreNotMixed(t *testing.T) {
	with := func(digest string) Header {
		return Header{Schema: SchemaVersion, Seed: 42, Device: verdict.Device{Kind: "sim", Name: "simulated NVIDIA H200",
			Profile: digest}}
	}
	require.NoError(t, with("").fits(with("")))
	require.NoError(t, with("00ff").fits(with("00ff")))
	require.EqualError(t, with("00ff").fits(with("")),
		"they were made with another profile of the simulated device (the built-in one, now it is 00ff)")
	require.EqualError(t, with("").fits(with("00ff")),
		"they were made with another profile of the simulated device (00ff, now it is the built-in one)")
}
