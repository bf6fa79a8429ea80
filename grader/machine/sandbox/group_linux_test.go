package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocate(t *testing.T) {
	const (
		systemd = "31 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		hybrid  = "29 27 0:25 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n30 27 0:26 / /sys/fs/cgroup/unified " +
			"rw - cgroup2 none rw\n"
		container = "31 22 0:26 /docker/1a2b /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
		none      = "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	)
	for _, c := range []struct{ groups, mounts, want string }{
		{"0::/user.slice/run-1.scope\n", systemd, "/sys/fs/cgroup/user.slice/run-1.scope"},
		{"0::/\n", systemd, "/sys/fs/cgroup"},
		{"4:memory:/job\n0::/job\n", hybrid, "/sys/fs/cgroup/unified/job"},
		{"0::/docker/1a2b/inner\n", container, "/sys/fs/cgroup/inner"},
		{"0::/../outside\n", systemd, ""},
		{"0::/elsewhere\n", container, ""},
		{"4:memory:/job\n", systemd, ""},
		{"0::/\n", none, ""},
		{"", "", ""},
	} {
		dir, err := locate(c.groups, c.mounts)
		require.Equal(t, c.want, dir, c.groups+c.mounts)
		require.Equal(t, c.want == "", err != nil)
	}
}
