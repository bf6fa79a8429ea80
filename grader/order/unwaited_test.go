package order

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/trace"
)

// hostWaits is advice that has the host wait.
var hostWaits = regexp.MustCompile(`(?i)\bhost (wait |wait$|has waited for the last)|` +
	`cuda\.(Stream|Event|Device)Synchronize|wait for it before you`)

// Where the host must not wait the same is found, and no advice about memory of the device has it wait.
func TestNoAdviceHasTheHostWaitWhereItMustNot(t *testing.T) {
	var traces []*trace.Trace
	for _, s := range allScenarios() {
		traces = append(traces, s.handmade())
	}
	for seed := range uint64(200) {
		made, _, _ := RandomTrace(rand.New(rand.NewPCG(seed, 1)), 8, 3)
		traces = append(traces, made)
	}
	tried, would := 0, 0
	for _, made := range traces {
		with, without := Check(made), CheckUnwaited(made)
		require.Equal(t, summary(made, with), summary(made, without))
		for i, f := range without {
			if ofTheHost(made, f) {
				continue
			}
			tried++
			if hostWaits.MatchString(with[i].Fix) {
				would++
			}
			require.NotRegexp(t, hostWaits, f.Fix, f.Rule)
		}
	}
	t.Logf("%d pieces of advice, of which %d have the host wait where it may", tried, would)
	require.Greater(t, would, 20)
}

// ofTheHost reports whether a finding is about pinned or mapped memory, which nothing but a wait of the host's makes
// safe to give back: no lesson has its host make such memory and forbids it to wait.
func ofTheHost(t *trace.Trace, f Finding) bool {
	switch t.Records[f.At].Op {
	case trace.OpMallocHost, trace.OpMemMap:
		return true
	}
	return false
}
