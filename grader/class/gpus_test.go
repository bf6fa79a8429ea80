package class

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLeastLoadedGPUIsTaken(t *testing.T) {
	p := newGPUs([]string{"0", "1"})
	a, err := p.take(nil)
	require.NoError(t, err)
	b, err := p.take(nil)
	require.NoError(t, err)
	require.NotEqual(t, a.name, b.name)
	p.give(b, "ada", false)
	c, err := p.take(nil)
	require.NoError(t, err)
	require.Equal(t, b, c)
}

func TestAFaultIsRetriedOnAnotherGPU(t *testing.T) {
	p := newGPUs([]string{"0", "1"})
	other, err := p.take(p.all[0])
	require.NoError(t, err)
	require.Equal(t, "1", other.name)
	again, err := p.take(p.all[0])
	require.NoError(t, err)
	require.Equal(t, "1", again.name, "even if it is busier")

	only := newGPUs([]string{"0"})
	g, err := only.take(only.all[0])
	require.NoError(t, err)
	require.Equal(t, "0", g.name)
}

func TestALostGPUIsNoLongerUsed(t *testing.T) {
	p := newGPUs([]string{"0", "1"})
	bad, good := p.all[0], p.all[1]
	for _, id := range []string{"ada", "ada", "ada", "bob"} {
		bad.load++
		require.False(t, p.give(bad, id, true), "one submission's own doing must not lose a GPU")
	}
	bad.load++
	require.False(t, p.give(bad, "cem", false))
	for _, id := range []string{"ada", "bob"} {
		bad.load++
		require.False(t, p.give(bad, id, true))
	}
	bad.load++
	require.True(t, p.give(bad, "cem", true))
	for range 3 {
		g, err := p.take(good)
		require.NoError(t, err)
		require.Equal(t, good, g)
	}
	for _, id := range []string{"ada", "bob", "cem"} {
		p.give(good, id, true)
	}
	_, err := p.take(nil)
	require.ErrorIs(t, err, errNoGPU)
}

func TestTheSimulatorIsNeverLost(t *testing.T) {
	p := newGPUs([]string{""})
	for _, id := range []string{"ada", "bob", "cem", "dan"} {
		g, err := p.take(nil)
		require.NoError(t, err)
		require.False(t, p.give(g, id, true))
	}
}

func TestGPUsAreThoseThatThisProcessMayUse(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", " 2, GPU-8f3a ,2")
	require.Equal(t, []string{"2", "GPU-8f3a"}, gpusOf(Options{}))
	require.Equal(t, []string{"1"}, gpusOf(Options{GPUs: []string{"1"}}))
}
