package child

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"cudalab/grader/machine/self"
)

func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// passFiles lets the child inherit handles. Unlike descriptors they have no fixed numbers, so the child is told.
func passFiles(cmd *exec.Cmd, files []*os.File) error {
	if len(files) == 0 {
		return nil
	}
	var numbers []string
	for _, f := range files {
		h := syscall.Handle(f.Fd())
		if err := syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT); err != nil {
			return os.NewSyscallError("SetHandleInformation", err)
		}
		cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, h)
		numbers = append(numbers, strconv.FormatUint(uint64(h), 10))
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, self.HandlesVariable+"="+strings.Join(numbers, ","))
	return nil
}

// askToQuit reports that Windows has no signal upon which a Go program prints its stacks.
func askToQuit(*os.Process) bool { return false }

func killGroup(pid int) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}
