//go:build linux && !amd64 && !arm64

package forkexec

import "syscall"

func fork(number, a1, a2 uintptr, first *call, end *failure) (pid, errno uintptr) {
	return 0, uintptr(syscall.ENOSYS)
}
