package conformance

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
)

// delay is how long the kernel runs, in nanoseconds, behind which a call is seen to wait or not to. Times are noted
// in whole delays, so it is far longer than any call that does not wait.
const delay = int64(50 * time.Millisecond)

// log is where a row notes its answers.
type log struct {
	session *session.Session
	lines   []string
	names   map[cuda.DevicePtr]string
	used    uint64 // by the pool, before the row began: a GPU never forgets what was freed in certain ways
}

type setUpFailure struct{ err error }

// must ends the row if something failed that its question depends on.
func (l *log) must(err error) {
	if err != nil {
		panic(setUpFailure{err})
	}
}

// saw notes a line.
func (l *log) saw(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// answer notes what a call answered.
func (l *log) answer(call string, err error) { l.saw("%s → %s", call, codeName(err)) }

// timed notes what a call answered and how long it took.
func (l *log) timed(call string, f func() error) {
	start := l.session.Device().Now()
	err := f()
	took := "at once"
	if d := delays(float64(l.session.Device().Now() - start)); d != "0 delays" {
		took = "after " + d
	}
	l.saw("%s → %s, %s", call, codeName(err), took)
}

// pointer notes what an allocation answered: whether the address is null, new, or one that was seen before.
func (l *log) pointer(call string, p cuda.DevicePtr, err error) {
	name, known := l.names[p]
	switch {
	case p == 0:
		name = "null"
	case known:
		name += " again"
	default:
		name = fmt.Sprintf("p%d", len(l.names)+1)
		l.names[p] = name
	}
	l.saw("%s → %s, %s", call, codeName(err), name)
}

// elapsed notes the time between two events.
func (l *log) elapsed(call string, start, end cuda.Event) {
	ms, err := cuda.EventElapsedTime(start, end)
	if err != nil {
		l.answer(call, err)
		return
	}
	l.saw("%s → %s, %s", call, codeName(err), delays(float64(ms)*1e6))
}

// bytes waits for the device and notes the first n bytes at p.
func (l *log) bytes(name string, p cuda.DevicePtr, n int) {
	l.must(cuda.DeviceSynchronize())
	data := make([]byte, n)
	l.must(cuda.MemcpyDtoH(cuda.Pageable(data), p, int64(n)))
	l.saw("%s holds %s", name, runs(data))
}

// pinned notes the first n bytes of a buffer as they are at this moment.
func (l *log) pinned(name string, h cuda.HostBuffer, n int) {
	data := make([]byte, n)
	l.must(h.Read(0, data))
	l.saw("%s holds %s", name, runs(data))
}

// pool notes what the default pool holds.
func (l *log) pool(when string) {
	pool, code := l.session.Device().DeviceGetDefaultMemPool()
	l.mustCode(code)
	reserved, code := l.session.Device().MemPoolGetAttribute(pool, device.PoolReservedMemCurrent)
	l.mustCode(code)
	l.saw("%s: reserved %d, used %d", when, reserved, l.getPool(device.PoolUsedMemCurrent))
}

// setPool sets an attribute of the default pool and answers the code.
func (l *log) setPool(attr device.PoolAttr, value uint64) device.Code {
	pool, code := l.session.Device().DeviceGetDefaultMemPool()
	l.mustCode(code)
	return l.session.Device().MemPoolSetAttribute(pool, attr, value)
}

// getPool is an attribute of the default pool; of used memory, what the row has added.
func (l *log) getPool(attr device.PoolAttr) uint64 {
	pool, code := l.session.Device().DeviceGetDefaultMemPool()
	l.mustCode(code)
	value, code := l.session.Device().MemPoolGetAttribute(pool, attr)
	l.mustCode(code)
	if attr == device.PoolUsedMemCurrent || attr == device.PoolUsedMemHigh {
		value -= l.used
	}
	return value
}

func (l *log) mustCode(code device.Code) {
	if code != device.Success {
		l.must(code)
	}
}

// What follows sets a row up.

func (l *log) stream(flags uint32) cuda.Stream {
	s, err := cuda.StreamCreateWithFlags(flags)
	l.must(err)
	return s
}

// busy is a non-blocking stream that a delay keeps busy.
func (l *log) busy() cuda.Stream {
	s := l.stream(cuda.StreamNonBlocking)
	l.delay(s)
	return s
}

func (l *log) delay(s cuda.Stream) { l.must(probe.Delay(s, delay)) }

func (l *log) event() cuda.Event {
	e, err := cuda.EventCreate()
	l.must(err)
	return e
}

// recorded is an event recorded in s.
func (l *log) recorded(s cuda.Stream) cuda.Event {
	e := l.event()
	l.must(cuda.EventRecord(e, s))
	return e
}

func (l *log) malloc(size int64) cuda.DevicePtr {
	p, err := cuda.Malloc(size)
	l.must(err)
	return p
}

func (l *log) mallocAsync(size int64, s cuda.Stream) cuda.DevicePtr {
	p, err := cuda.MallocAsync(size, s)
	l.must(err)
	return p
}

// filled is memory from Malloc, set to value and at rest.
func (l *log) filled(value byte, size int64) cuda.DevicePtr {
	p := l.malloc(size)
	l.must(cuda.Memset(p, value, size))
	l.must(cuda.DeviceSynchronize())
	return p
}

// host is a pinned buffer of zeros.
func (l *log) host(size int64) cuda.HostBuffer {
	h, err := cuda.MallocHost(size)
	l.must(err)
	l.must(h.Write(0, make([]byte, size)))
	return h
}

// onFreshThread runs f on a thread of the system's that has never called CUDA, and that ends with f.
func onFreshThread(f func()) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		runtime.LockOSThread() // never unlocked: so the thread ends with the goroutine
		f()
	}()
	if v := <-done; v != nil {
		panic(v)
	}
}

func codeName(err error) string {
	if err == nil {
		return device.Success.Name()
	}
	var code device.Code
	if errors.As(err, &code) {
		return code.Name()
	}
	return err.Error()
}

func delays(nanos float64) string {
	n := int(math.Round(nanos / float64(delay)))
	if n == 1 || n == -1 {
		return fmt.Sprintf("%d delay", n)
	}
	return fmt.Sprintf("%d delays", n)
}

// runs writes bytes as runs of equal ones: "64×07 2×00".
func runs(data []byte) string {
	var parts []string
	for i := 0; i < len(data); {
		n := 1
		for i+n < len(data) && data[i+n] == data[i] {
			n++
		}
		parts = append(parts, fmt.Sprintf("%d×%02x", n, data[i]))
		i += n
	}
	return strings.Join(parts, " ")
}
