package intake

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The folder of an intake that was killed is removed by the next; that of one at work stays.
func TestFoldersOfTheKilledAreRemoved(t *testing.T) {
	temp := t.TempDir()
	killed := filepath.Join(temp, folders+"1")
	tree{"lock": "", "submissions/ada/slab/slab.go": slab}.write(t, killed)
	path := tree{"ada/slab/slab.go": slab, "bob/slab/slab.go": slab}.write(t, t.TempDir())
	first, err := Open(path, course, Options{Temp: temp})
	require.NoError(t, err)
	defer first.Close()
	require.NoDirExists(t, killed)
	second, err := Open(path, course, Options{Temp: temp})
	require.NoError(t, err)
	require.DirExists(t, first.Submissions()[0].Dir)
	require.NoError(t, second.Close())
	require.NoDirExists(t, second.dir)
}

func TestAFullDiskIsNotBlamedOnTheFolder(t *testing.T) {
	err := cannotCopy("", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	require.Equal(t, "The disk is full: the submissions could not be copied to "+os.TempDir()+
		", where they are while they are graded. "+
		"Free some space there and start again; what has been graded is kept.", err.Error())
}
