// Package conformance holds the two devices to one meaning. It is a table of small programs over package cuda, right
// ones and wrong ones, each noting what it was answered. The answers in testdata were recorded on a GPU; the tests
// compare what the simulator answers with them, and, where there is a GPU, what that answers:
//
//	go test ./grader/proof/conformance                        the simulator against the recorded answers
//	go test ./grader/proof/conformance -device gpu            the GPU of this machine against them
//	go test ./grader/proof/conformance -device gpu -record    record them anew
//
// No program here may lose a GPU's context: the next one runs on it.
package conformance

import (
	"fmt"
	"slices"

	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
)

// row is one small program.
type row struct {
	Name string // "malloc-async/zero-bytes"
	Note string // what a reader of its answers should know
	Run  func(l *log)
}

// binding is the note of a row that says nothing of the device.
const binding = "answered by the layers above the device"

// rows is the whole table. Names are unique. What a GPU's driver might take amiss comes last.
func rows() []row {
	return slices.Concat(streamRows, eventRows, orderRows, mallocRows, mallocAsyncRows, reuseRows, deadPointerRows(),
		boundsRows(), argumentRows, hostRows, copyRows, waitRows, launchRows, threadRows(), poolRows, walkRows(),
		poolsCallRows, poolsLifeRows, poolsWalkRows(), poolsReuseRows(), eventMisuseRows,
		deviceRows, vmmCallRows, vmmMapRows, vmmAccessRows, vmmLifeRows, vmmWaitRows(), vmmThreadRows(), vmmUseRows(),
		garbageRows, poolsNullRows, vmmLastRows)
}

// warm makes the device's first uses of what is slow once: of kernels, of the pool, of copies.
func warm(d device.Device) error {
	s := session.New(d)
	s.Use()
	s.StartTrace()
	defer s.StopTrace()
	lines := row{Run: func(l *log) {
		stream := l.stream(cuda.StreamNonBlocking)
		l.must(probe.Delay(stream, 1000))
		l.must(launchNothing(cuda.Dim3{X: 1}, cuda.Dim3{X: 1}, stream))
		p, h := l.mallocAsync(4096, stream), l.host(4096)
		l.must(cuda.MemsetAsync(p, 0, 4096, stream))
		l.must(cuda.MemcpyDtoHAsync(h, p, 4096, stream))
		l.must(cuda.DeviceSynchronize())
	}}.run(s)
	if len(lines) > 0 {
		return fmt.Errorf("warming up: %s", lines[0])
	}
	return s.Sweep()
}

// answers runs the row on the device and returns what it noted. The row leaves nothing behind; if its remains cannot be
// removed, the last line says so.
func (r row) answers(d device.Device) []string {
	s := session.New(d)
	s.Use()
	s.StartTrace()
	lines := r.run(s)
	s.StopTrace()
	if err := s.Sweep(); err != nil {
		lines = append(lines, err.Error())
	}
	s.Restore()
	return lines
}

// run runs the program; one that cannot be set up ends with a line that says why.
func (r row) run(s *session.Session) (lines []string) {
	l := &log{session: s, names: map[cuda.DevicePtr]string{}}
	defer func() {
		lines = l.lines
		if v := recover(); v != nil {
			failure, ok := v.(setUpFailure)
			if !ok {
				panic(v)
			}
			lines = append(lines, "cannot be set up: "+failure.err.Error())
		}
	}()
	l.used = l.getPool(device.PoolUsedMemCurrent)
	r.Run(l)
	return l.lines
}
