package intake

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Full reports whether an error says that a disk, or what may be kept on it, is full.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// cannotCopy is the error of a machine on which the submissions could not be copied. temp is where they were to go; ""
// is the system's folder for temporary files.
func cannotCopy(temp string, err error) error {
	where, fix := temp, "See that you may write there, or name another folder for the results with -o."
	if temp == "" {
		where, fix = os.TempDir(), "Set TMPDIR to a folder that you may write to."
	}
	if Full(err) {
		fix = "Free some space there and start again; what has been graded is kept."
		return &Error{Problem: fmt.Sprintf("The disk is full: the submissions could not be copied to %s, where they are "+
			"while they are graded.", where), Fix: fix}
	}
	return &Error{Problem: fmt.Sprintf("The submissions could not be copied to %s: %v.", where, err), Fix: fix}
}
