package child

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func allowed(t *testing.T, role string, a Allowance) *Process {
	p := start(t, context.Background(), command(role, Limits{Wall: time.Minute}))
	p.Allow(a)
	return p
}

func TestCodeThatLoopsUsesItsAllowanceUp(t *testing.T) {
	r := allowed(t, "loop", Allowance{Own: 300 * time.Millisecond, Wall: time.Minute}).Wait()
	require.Equal(t, TooLong, r.Reason)
	require.GreaterOrEqual(t, r.CPU, 250*time.Millisecond)
}

func TestCodeThatSleepsUsesItsAllowanceUp(t *testing.T) {
	r := allowed(t, "sleep", Allowance{Own: 500 * time.Millisecond, Wall: time.Minute}).Wait()
	require.Equal(t, TooLong, r.Reason)
	require.Less(t, r.CPU, 200*time.Millisecond)
}

// A stopped process neither runs nor sleeps, as one that others keep from the CPU.
func TestCodeThatGetsNoTimeIsNotToBlame(t *testing.T) {
	p := start(t, context.Background(), command("loop", Limits{Wall: time.Minute}))
	require.NoError(t, syscall.Kill(p.cmd.Process.Pid, syscall.SIGSTOP))
	p.Allow(Allowance{Own: 500 * time.Millisecond, Wall: 3 * time.Second})
	r := p.Wait()
	require.Equal(t, TooBusy, r.Reason)
	require.GreaterOrEqual(t, r.Duration, 3*time.Second)
}

func TestABusyMachineMakesAnAllowanceNoShorter(t *testing.T) {
	var busy []*Process
	for range 6 {
		busy = append(busy, start(t, context.Background(), command("loop", Limits{Wall: time.Minute})))
	}
	r := allowed(t, "loop", Allowance{Own: 500 * time.Millisecond, Wall: time.Minute}).Wait()
	require.Equal(t, TooLong, r.Reason)
	require.GreaterOrEqual(t, r.CPU, 450*time.Millisecond, "after %v", r.Duration)
	for _, p := range busy {
		p.Quit(Cancelled)
		p.Wait()
	}
}

func TestAnAllowanceEnds(t *testing.T) {
	p := start(t, context.Background(), command("sleep", Limits{Wall: 3 * time.Second}))
	first := p.Allow(Allowance{Own: time.Minute})
	stop := p.Allow(Allowance{Own: 1500 * time.Millisecond})
	first() // of one that another has taken the place of
	time.Sleep(500 * time.Millisecond)
	stop()
	require.Equal(t, WallTime, p.Wait().Reason)
}
