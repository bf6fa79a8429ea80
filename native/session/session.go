// Package session is the process's one connection to a device, and the grader's side of package cuda: every call
// that an exercise makes passes through a Session, which names what the call names, records it, makes it fail where
// a test wants that, and keeps the memory quota. Package cuda gives the calls CUDA's names and makes errors of their
// codes; exercises cannot import this package.
//
// With tracing off a call costs one atomic load more than the device's own answer, and what allocates or frees a look
// at what was lent. With tracing on, a call that returns without waiting holds one lock around itself and its record. A
// call that may wait records Enter, lets go of the lock while it waits, and records Leave; these are StreamSynchronize,
// EventSynchronize, DeviceSynchronize, Free, MallocHost, FreeHost, MemUnmap, the synchronous copies between host and
// device, and the asynchronous ones on pageable memory. Leave repeats what Enter says and adds the answer.
package session

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// Session is a device with everything that is known about what was asked of it. Its methods are safe for use from
// any goroutine.
type Session struct {
	dev device.Device

	// watched is set while a call has more to do than to reach the device: tracing is on, memory from the last trace
	// is still there, or a fault is waiting. It is all that a call looks at otherwise.
	watched atomic.Bool
	last    atomic.Int32 // the code that GetLastError answers

	mu       sync.Mutex
	tracing  bool
	epoch    uint32 // counts StartTrace; 0 before the first
	records  []trace.Record
	scratch  trace.Record // stands in for a record while tracing is off
	accesses []trace.Access
	touched  []device.Access // what the kernel being launched touches
	sites    siteTable
	limit    int
	memory   table
	blocks   table         // the parts of memory that allocators under test have handed out
	streams  []*Stream     // made since StartTrace
	events   []*Event      // made since StartTrace
	buffers  []*HostBuffer // made since StartTrace
	handles  []*MemHandle  // made since StartTrace, the memory still there
	ranges   []memRange    // reserved since StartTrace
	pools    []*MemPool    // all that are alive and known
	current  *MemPool      // the device's; nil: the default pool
	counts   struct{ streams, events, pools, allocations trace.ID }
	counted  map[trace.Op]Count // see Counted; nil: every call is recorded
	quota    uint64
	excess   Excess       // since SetQuota
	folded   int          // calls since StartTrace that fold took off the trace, and that count
	asked    uint64       // live bytes asked for since StartTrace, on the device and pinned
	filled   atomic.Int64 // see Filled
	faults   map[trace.Op][]fault
	asides   [][2]int // the records since StartTrace that Aside has made: the first, and that behind the last
	timing   *timing  // nil: the times of operations are not taken

	guest atomic.Bool         // the code under test runs
	lent  map[device.Ptr]bool // memory that was allocated while it did not
	taken *taken              // see there

	recordsGiven bool
	givenSize    int // bytes of what calls were given, since StartTrace
}

// New returns a session on d, with tracing off. It does not own d: Close is the caller's.
func New(d device.Device) *Session {
	return &Session{dev: d, memory: newTable(), blocks: newTable(), sites: newSiteTable()}
}

var (
	current     atomic.Pointer[Session]
	openCurrent sync.Mutex
)

// Use makes s the session that package cuda calls.
func (s *Session) Use() { current.Store(s) }

// Current is the session in use. Where none was set it opens the device that the environment variable
// CUDALAB_DEVICE names ("auto" if it is empty), and panics with the reason if that cannot be opened.
func Current() *Session {
	if s := current.Load(); s != nil {
		return s
	}
	openCurrent.Lock()
	defer openCurrent.Unlock()
	if s := current.Load(); s != nil {
		return s
	}
	d, err := OpenDevice(os.Getenv("CUDALAB_DEVICE"))
	if err != nil {
		panic(fmt.Sprintf("CUDALAB_DEVICE=%s: %v", os.Getenv("CUDALAB_DEVICE"), err))
	}
	s := New(d)
	s.Use()
	return s
}

// Device is the device that answers.
func (s *Session) Device() device.Device { return s.dev }

// note remembers a failure for LastError and passes the code on.
func (s *Session) note(code device.Code) device.Code {
	if code != device.Success {
		s.last.Store(int32(code))
	}
	return code
}

// LastError is the code of the last call that did not answer Success, and forgets it, as cudaGetLastError does. A
// code that means that the context is lost stays. It is one for the whole process, where CUDA keeps one per thread:
// goroutines move between threads.
func (s *Session) LastError() device.Code {
	code := device.Code(s.last.Load())
	if code != device.Success && !code.Sticky() {
		s.last.CompareAndSwap(int32(code), int32(device.Success))
	}
	return code
}

// rewatch brings watched up to date. The lock is held.
func (s *Session) rewatch() {
	s.watched.Store(s.tracing || !s.memory.live.Empty() || len(s.handles) > 0 || len(s.ranges) > 0 ||
		len(s.faults) > 0)
}
