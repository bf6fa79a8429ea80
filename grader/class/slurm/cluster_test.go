package slurm_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cluster is a real Slurm on this machine alone: munged, slurmctld and two nodes, n1 and n2, with a GPU each by name.
type cluster struct {
	dir   string
	nodes map[string]*exec.Cmd
}

// startCluster starts it, with all that it writes in a folder of the test's. It skips the test where it cannot.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("a Slurm of one's own needs Linux and root")
	}
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel",
		"unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing: Debian has it in slurm-wlm, munge and util-linux", program)
		}
	}
	c := &cluster{dir: t.TempDir(), nodes: map[string]*exec.Cmd{}}
	require.NoError(t, os.Chmod(c.dir, 0o755))
	for _, sub := range []string{"munge", "state", "spool-n1", "spool-n2", "log"} {
		require.NoError(t, os.Mkdir(filepath.Join(c.dir, sub), 0o755))
	}
	key := make([]byte, 128)
	_, err := rand.Read(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "munge", "key"), key, 0o400))
	c.write(t, "slurm.conf", c.config(t))
	c.write(t, "gres.conf", "NodeName=n[1-2] Name=gpu File=/dev/null\n") // what counts is that Slurm counts them
	t.Setenv("SLURM_CONF", filepath.Join(c.dir, "slurm.conf"))

	socket := filepath.Join(c.dir, "munge", "socket")
	munged := c.start(t, "munged", "--foreground", "--force", "--socket="+socket, "--key-file="+filepath.Join(c.dir,
		"munge", "key"), "--pid-file="+filepath.Join(c.dir, "munge", "pid"), "--log-file="+filepath.Join(c.dir, "log",
		"munged"),
		"--seed-file="+filepath.Join(c.dir, "munge", "seed"))
	t.Cleanup(func() { stop(munged) })
	c.await(t, "munged", func() bool {
		_, err := os.Stat(socket)
		return err == nil
	})
	controller := c.start(t, "slurmctld", "-D", "-i")
	t.Cleanup(func() { stop(controller) })
	for _, node := range []string{"n1", "n2"} {
		c.startNode(t, node)
		t.Cleanup(func() { c.killNode(node) })
	}
	c.await(t, "both nodes to be idle", func() bool {
		said, _ := exec.Command("sinfo", "--noheader", "--Node", "--format=%t").Output()
		return strings.Count(string(said), "idle") == 2
	})
	return c
}

func (c *cluster) config(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	ports := freePorts(t, 3)
	return fmt.Sprintf(`ClusterName=cudalab
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge/socket,cred_expire=5
SlurmctldPort=%[3]d
StateSaveLocation=%[1]s/state
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmctldLogFile=%[1]s/log/slurmctld
SlurmdSpoolDir=%[1]s/spool-%%n
SlurmdPidFile=%[1]s/slurmd-%%n.pid
SlurmdLogFile=%[1]s/log/slurmd-%%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=5
SchedulerParameters=sched_interval=1,batch_sched_delay=1
InactiveLimit=0
KillWait=2
NodeName=n1 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=2 Gres=gpu:1
NodeName=n2 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=2 Gres=gpu:1
PartitionName=grading Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`, c.dir, host, ports[0], ports[1], ports[2])
}

// freePorts are ports of this machine that nobody listened on a moment ago.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// startNode starts a node as a PID namespace of its own: when it is killed all that runs on it ends, as when a machine
// loses its power.
func (c *cluster) startNode(t *testing.T, node string) {
	c.nodes[node] = c.start(t, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "slurmd", "-D", "-N", node)
}

func (c *cluster) killNode(node string) {
	_ = c.nodes[node].Process.Kill()
	_ = c.nodes[node].Wait()
}

func (c *cluster) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644))
}

// start starts a daemon in the foreground.
func (c *cluster) start(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	out, err := os.OpenFile(filepath.Join(c.dir, "log", name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	return cmd
}

func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

// await waits until something is so; what says what.
func (c *cluster) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) < 2*time.Minute {
			continue
		}
		logs, _ := filepath.Glob(filepath.Join(c.dir, "log", "*"))
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			t.Logf("%s:\n%s", log, text[max(0, len(text)-4000):])
		}
		require.Fail(t, "waited too long for "+what)
	}
}

// tasks are the running tasks of a job array, by the node that each is on.
func tasks(ctx context.Context, array string) map[string]int {
	said, _ := exec.CommandContext(ctx, "squeue", "--noheader", "--states=RUNNING", "--format=%N %K", "--jobs="+
		array).Output()
	running := map[string]int{}
	for line := range strings.Lines(string(said)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			running[fields[0]], _ = strconv.Atoi(fields[1])
		}
	}
	return running
}
