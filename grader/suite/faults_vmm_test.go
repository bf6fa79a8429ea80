package suite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// mapping is a piece of virtual memory that is mapped, with the parts that there are so far.
type mapping struct {
	base            cuda.DevicePtr
	handle          cuda.MemGenericAllocationHandle
	mapped, created bool
}

const mappingSize = 2 << 20

func (m *mapping) open() (err error) {
	if m.base, err = cuda.MemAddressReserve(mappingSize, 0, 0, 0); err != nil {
		return err
	}
	here := cuda.MemLocation{Type: cuda.MemLocationTypeDevice}
	m.handle, err = cuda.MemCreate(mappingSize, cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned, Location: here},
		0)
	if err != nil {
		return err
	}
	m.created = true
	if err = cuda.MemMap(m.base, mappingSize, 0, m.handle, 0); err != nil {
		return err
	}
	m.mapped = true
	return cuda.MemSetAccess(m.base, mappingSize,
		[]cuda.MemAccessDesc{{Location: here, Flags: cuda.MemAccessFlagsProtReadWrite}})
}

// close gives back what there is, and keeps what could not be given back.
func (m *mapping) close() (err error) {
	if m.mapped {
		if err = cuda.MemUnmap(m.base, mappingSize); err != nil {
			return err
		}
		m.mapped = false
	}
	if m.created {
		if err = cuda.MemRelease(m.handle); err != nil {
			return err
		}
		m.created = false
	}
	if m.base != 0 {
		if err = cuda.MemAddressFree(m.base, mappingSize); err != nil {
			return err
		}
		m.base = 0
	}
	return nil
}

func TestEveryCallOfVirtualMemoryFails(t *testing.T) {
	j := suite.FaultJudge{Function: "Run", Retried: "close", Wrong: function.Wrong}
	found, c := after(t, j, func(cuda.Stream) func() error {
		return func() error {
			var m mapping
			err := m.open()
			failed := m.close()
			if failed != nil {
				failed = errors.Join(failed, m.close())
			}
			return errors.Join(err, failed)
		}
	})
	require.Empty(t, found)
	require.Len(t, suite.FaultRuns(c), 7+7)
}

func TestMappedMemoryIsLeftBehind(t *testing.T) {
	found, _ := after(t, function, func(cuda.Stream) func() error {
		return func() error {
			var m mapping
			if err := m.open(); err != nil {
				return err
			}
			return m.close()
		}
	})
	require.Subset(t, rules(found), []string{"leak-on-error"})
	var messages []string
	for _, f := range found {
		messages = append(messages, f.Message)
	}
	all := strings.Join(messages, "\n")
	for _, left := range []string{"address range that was reserved here should have been given back, but was not",
		"memory that was created here should have been released, but was not",
		"memory that was mapped here should have been unmapped, but was not"} {
		require.Contains(t, all, left)
	}
}
