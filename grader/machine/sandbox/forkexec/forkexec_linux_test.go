package forkexec

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// write adds a call that writes to a descriptor, and end one that ends the process.
func write(c *Calls, fd uintptr, text string) {
	c.Add("writing", unix.SYS_WRITE, fd, c.Text(text), uintptr(len(text)))
}

func end(c *Calls, status uintptr) { c.Add("ending", unix.SYS_EXIT_GROUP, status) }

func wait(t *testing.T, pid int) syscall.WaitStatus {
	t.Helper()
	var status syscall.WaitStatus
	_, err := syscall.Wait4(pid, &status, 0, nil)
	require.NoError(t, err)
	return status
}

// pipes are for a process to write to.
func pipes(t *testing.T, n int) (reads, writes []*os.File) {
	t.Helper()
	for range n {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { r.Close(); w.Close() })
		reads, writes = append(reads, r), append(writes, w)
	}
	return reads, writes
}

// The numbers that the process's descriptors get are taken here by others, its pipes to its parent among them.
func TestFilesBecomeTheFirstDescriptors(t *testing.T) {
	reads, writes := pipes(t, 20)
	var c Calls
	for i := range writes {
		write(&c, uintptr(i), fmt.Sprint("descriptor ", i))
	}
	end(&c, 7)
	pid, err := c.Start(Options{Files: writes})
	require.NoError(t, err)
	require.Equal(t, 7, wait(t, pid).ExitStatus())
	for i, r := range reads {
		require.NoError(t, writes[i].Close())
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint("descriptor ", i), string(text))
	}
}

func TestAFailedCallIsNamed(t *testing.T) {
	var c Calls
	c.Add("naming itself", unix.SYS_PRCTL, unix.PR_SET_NAME, c.Text("child"))
	c.Add("changing to the folder /no/such", unix.SYS_CHDIR, c.Text("/no/such"))
	end(&c, 0)
	_, err := c.Start(Options{})
	require.EqualError(t, err, "changing to the folder /no/such: no such file or directory")
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = syscall.Wait4(-1, nil, 0, nil)
	require.ErrorIs(t, err, syscall.ECHILD, "the process is reaped")
}

func TestPrepareComesBeforeTheCalls(t *testing.T) {
	reads, writes := pipes(t, 1)
	var c Calls
	text := []byte("before")
	c.Add("writing", unix.SYS_WRITE, 0, Pointer(&c, &text[0]), uintptr(len(text)))
	end(&c, 0)
	prepared := 0
	pid, err := c.Start(Options{Files: writes, Prepare: func(pid int) error {
		copy(text, "behind")
		prepared = pid
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, pid, prepared)
	wait(t, pid)
	buffer := make([]byte, 100)
	n, err := reads[0].Read(buffer)
	require.NoError(t, err)
	require.Equal(t, "behind", string(buffer[:n]))

	refusal := errors.New("not prepared")
	_, err = c.Start(Options{Files: writes, Prepare: func(int) error { return refusal }})
	require.Equal(t, refusal, err)
	require.NoError(t, writes[0].Close())
	n, err = reads[0].Read(buffer)
	require.ErrorIs(t, err, io.EOF)
	require.Zero(t, n)
}

// What this process does about signals is none of the program's business.
func TestSignalsHaveTheirDefaults(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	reads, writes := pipes(t, 1)
	var c Calls
	c.Add("executing cat", unix.SYS_EXECVE, c.Text("/bin/cat"), c.Texts([]string{"cat", "/proc/self/status"}),
		c.Texts(nil))
	pid, err := c.Start(Options{Files: []*os.File{os.Stdin, writes[0], os.Stderr}})
	require.NoError(t, err)
	require.NoError(t, writes[0].Close())
	text, err := io.ReadAll(reads[0])
	require.NoError(t, err)
	require.Zero(t, wait(t, pid).ExitStatus())
	for _, field := range []string{"SigBlk", "SigIgn", "SigCgt"} {
		require.Contains(t, string(text), field+":\t0000000000000000\n")
	}
}

// New processes use this one's memory while its other goroutines run, and the collector with them.
func TestManyAtOnce(t *testing.T) {
	var running sync.WaitGroup
	for g := range 4 {
		reads, writes := pipes(t, 50)
		running.Go(func() {
			for i := range reads {
				text := fmt.Sprintf("%d of %d", i, g)
				var c Calls
				write(&c, 0, text)
				end(&c, 0)
				pid, err := c.Start(Options{Files: writes[i : i+1]})
				if err != nil {
					t.Error(err)
					return
				}
				runtime.GC()
				got := make([]byte, 100)
				n, _ := reads[i].Read(got)
				if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil || string(got[:n]) != text {
					t.Errorf("%q instead of %q; %v", got[:n], text, err)
				}
			}
		})
	}
	running.Wait()
}
