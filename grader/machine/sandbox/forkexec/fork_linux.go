//go:build amd64 || arm64

package forkexec

// fork makes the system call number, clone or clone3, with two arguments. The new process shares this one's memory: it
// makes the calls from first on, and if one of them fails, leaves at end which one it was and ends.
//
// It is written in assembly because there is no other way: nothing that Go compiles can be relied on to leave the stack
// alone, which the new process shares with its parent as well.
func fork(number, a1, a2 uintptr, first *call, end *failure) (pid, errno uintptr)
