package suite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

func TestPacesOfRaces(t *testing.T) {
	d := verdict.Device{Kind: "sim", Name: "simulated NVIDIA L4"}
	same := func(ns int64) []int64 { return []int64{ns, ns, ns} }
	got := new(Suite).PacesOf(d, []map[string][]int64{
		{"Share: " + verdict.Solution: same(10), "Share: " + Baseline: same(40), "Share: " + verdict.Yours: same(99),
			"FanOut: " + verdict.Solution: same(1), "FanOut: " + Baseline: same(2)},
		{"Share: " + verdict.Solution: same(20), "Share: " + Baseline: same(40)},
		{"Share: " + verdict.Solution: same(30), "Share: " + Baseline: same(40), verdict.Solution: same(7)},
	})
	require.Equal(t, []RecordedPace{
		{Kind: "sim", Name: d.Name, Function: "FanOut", Value: 0.5, Low: 0.5, High: 0.5},
		{Kind: "sim", Name: d.Name, Function: "Share", Value: 0.5, Low: 0.25, High: 0.75},
	}, got)
	require.Empty(t, new(Suite).PacesOf(d, []map[string][]int64{{}, {verdict.Solution: same(7)}}))
}

func TestAddedPacesTakeThePlaceOfTheDevicesOwn(t *testing.T) {
	const text = `# Recorded.
sim "simulated NVIDIA H200" "" 0.25 0.24 0.26
gpu "NVIDIA H200" "" 0.3 0.2 0.4
`
	h200 := RecordedPace{Kind: "sim", Name: "simulated NVIDIA H200", Value: 0.5, Low: 0.5, High: 0.5}
	l4 := h200
	l4.Name = "simulated NVIDIA L4"
	added, err := AddPaces(text, []RecordedPace{l4})
	require.NoError(t, err)
	require.Equal(t, text+l4.String()+"\n", added)
	replaced, err := AddPaces(added, []RecordedPace{h200})
	require.NoError(t, err)
	require.Equal(t, "# Recorded.\n"+h200.String()+"\ngpu \"NVIDIA H200\" \"\" 0.3 0.2 0.4\n"+l4.String()+"\n", replaced)
	_, err = AddPaces("nonsense", nil)
	require.ErrorContains(t, err, "not a pace")
}
