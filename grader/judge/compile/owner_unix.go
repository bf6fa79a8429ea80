//go:build !windows

package compile

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a folder belongs to this user and nobody else can write to it.
func ours(info fs.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
