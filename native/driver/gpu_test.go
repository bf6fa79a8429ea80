package driver

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// ptx holds three kernels: nothing does nothing; fill sets out[i] = value for i < n; spin ends when the device's clock
// has advanced by that many nanoseconds.
const ptx = `.version 6.0
.target sm_70
.address_size 64

.visible .entry nothing() { ret; }

.visible .entry fill(.param .u64 fill_out, .param .u32 fill_n, .param .f32 fill_value)
{
	.reg .pred %p<2>;
	.reg .f32 %f<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [fill_out];
	ld.param.u32 %r1, [fill_n];
	ld.param.f32 %f1, [fill_value];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra $done;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.u32 %rd3, %r5, 4;
	add.s64 %rd4, %rd2, %rd3;
	st.global.f32 [%rd4], %f1;
$done:
	ret;
}

.visible .entry spin(.param .u64 spin_nanos)
{
	.reg .pred %p<2>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [spin_nanos];
	mov.u64 %rd2, %globaltimer;
$again:
	mov.u64 %rd3, %globaltimer;
	sub.s64 %rd4, %rd3, %rd2;
	setp.lt.u64 %p1, %rd4, %rd1;
	@%p1 bra $again;
	ret;
}
`

// testKernel is a kernel for the GPU only.
func testKernel(entry, text string, params int) *device.Kernel {
	return device.NewKernel(device.Spec{Entry: entry, PTX: text, Params: params,
		Exec:     func(*device.Launch, device.Memory) {},
		Accesses: func(_ *device.Launch, buf []device.Access) []device.Access { return buf },
		Work:     func(*device.Launch) device.Work { return device.Work{} }})
}

var (
	nothing = testKernel("nothing", ptx, 0)
	fill    = testKernel("fill", ptx, 3)
	spin    = testKernel("spin", ptx, 1)
)

// openGPU opens the device. The test is skipped where there is none, and fails where there is one that does not open.
func openGPU(t testing.TB) *Device {
	d, err := Open()
	var u *Unavailable
	if errors.As(err, &u) && (u.Reason == reasonNoLibrary || u.Reason == reasonNoDevice) {
		t.Skip("no NVIDIA GPU here: " + u.What)
	}
	require.NoError(t, err)
	return d
}

// gpu opens the device for one test.
func gpu(t testing.TB) *Device {
	d := openGPU(t)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func ok(t testing.TB, code device.Code) {
	t.Helper()
	require.Equal(t, device.Success, code, "%v", code)
}

func newStream(t testing.TB, d *Device) device.Stream {
	s, code := d.StreamCreate(device.StreamNonBlocking)
	ok(t, code)
	t.Cleanup(func() { ok(t, d.StreamDestroy(s)) })
	return s
}

func newEvent(t testing.TB, d *Device) device.Event {
	e, code := d.EventCreate(0)
	ok(t, code)
	t.Cleanup(func() { ok(t, d.EventDestroy(e)) })
	return e
}

// delay is a launch that keeps stream s busy for so many milliseconds.
func delay(s device.Stream, milliseconds uint64) *device.Launch {
	l := &device.Launch{Kernel: spin, Grid: device.Dim{X: 1}, Block: device.Dim{X: 1}, Stream: s}
	l.Args[0] = milliseconds * 1e6
	return l
}
