package calibrate

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/driver"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

// other is a GPU that nobody has made, different from the built-in one in every constant.
func other() *sim.Profile {
	p := sim.H200
	p.Name = "NVIDIA Made-Up"
	for _, c := range p.Constants() {
		switch v := c.Value.(type) {
		case *int64:
			*v = *v*8/5 + 3
		case *sim.Curve:
			*v = slices.Clone(*v)
			for i := range *v {
				(*v)[i].Nanos = (*v)[i].Nanos*7/3 + int64(i)
			}
		}
	}
	p.Memory, p.Multiprocessors, p.ComputeCapability = 24<<30, 58, [2]int{8, 6}
	p.MaxThreads, p.ThreadsPerMultiprocessor, p.BlocksPerMultiprocessor = 512, 1536, 24
	p.StepWarps = 17
	p.KernelBandwidth, p.MemoryBandwidth, p.ThreadBandwidth = 160e9, 250e9, 9e6
	p.SharedBandwidth = 300e9
	p.HtoDBandwidth, p.DtoHBandwidth, p.PageableBandwidth = 12e9, 13e9, 5e9
	p.LinkBandwidth = 20e9
	p.StageLimit, p.QueueDepth = 16<<10, 500
	p.Granule, p.PoolStep, p.Granularity = 4<<20, 16<<20, 1<<20
	return &p
}

func measure(t *testing.T, d device.Device) *profile.File {
	t.Helper()
	f, unsure, err := Measure(context.Background(), d, func(Progress) {})
	require.NoError(t, err)
	require.Empty(t, unsure)
	return f
}

// What is measured of a simulated device is its own profile: each constant is what the simulator takes it for.
func TestSimulatedDeviceGivesItsProfileBack(t *testing.T) {
	for _, p := range []*sim.Profile{&sim.H200, other()} {
		t.Run(p.Name, func(t *testing.T) {
			d := sim.New(sim.Options{Profile: p})
			defer d.Close()
			f := measure(t, d)
			require.Equal(t, p.Name, f.Profile.Name)
			require.Empty(t, f.Kept)
			got := f.Profile.Constants()
			for i, want := range p.Constants() {
				near(t, want, got[i].Value)
			}
		})
	}
}

// tolerance is how far a measured constant may be off: by rounding, and by what rides along with what is measured.
const tolerance = 0.03

func near(t *testing.T, want sim.Constant, got any) {
	t.Helper()
	switch v := want.Value.(type) {
	case *int64:
		assert.InEpsilon(t, *v, *got.(*int64), tolerance, want.Name)
	case *sim.Curve:
		for _, point := range *got.(*sim.Curve) {
			assert.InEpsilon(t, v.At(point.Bytes), point.Nanos, tolerance, "%s of %d bytes", want.Name, point.Bytes)
		}
	default:
		assert.Equal(t, v, got, want.Name)
	}
}

func TestEveryConstantIsMeasuredOnce(t *testing.T) {
	var measured, all []string
	for _, s := range steps {
		require.NotEmpty(t, s.name)
		measured = append(measured, s.constants...)
	}
	for _, c := range sim.H200.Constants() {
		all = append(all, c.Name)
	}
	require.ElementsMatch(t, all, measured)
}

// held counts what a device's user holds, and has a call fail.
type held struct {
	device.Device
	objects int
	calls   int
	failAt  int // of the launches, the one that fails; 0: none
	info    func(*device.Info)
}

func (h *held) count(n int, code device.Code) device.Code {
	if code == device.Success {
		h.objects += n
	}
	return code
}

func (h *held) Info() device.Info {
	i := h.Device.Info()
	if h.info != nil {
		h.info(&i)
	}
	return i
}

func (h *held) StreamCreate(flags uint32) (device.Stream, device.Code) {
	s, code := h.Device.StreamCreate(flags)
	return s, h.count(1, code)
}
func (h *held) StreamDestroy(s device.Stream) device.Code {
	return h.count(-1, h.Device.StreamDestroy(s))
}
func (h *held) EventCreate(flags uint32) (device.Event, device.Code) {
	e, code := h.Device.EventCreate(flags)
	return e, h.count(1, code)
}
func (h *held) EventDestroy(e device.Event) device.Code { return h.count(-1, h.Device.EventDestroy(e)) }
func (h *held) MemPoolCreate() (device.Pool, device.Code) {
	p, code := h.Device.MemPoolCreate()
	return p, h.count(1, code)
}
func (h *held) MemPoolDestroy(p device.Pool) device.Code {
	return h.count(-1, h.Device.MemPoolDestroy(p))
}
func (h *held) MemAllocHost(size uint64) (device.Host, device.Code) {
	p, code := h.Device.MemAllocHost(size)
	return p, h.count(1, code)
}
func (h *held) MemFreeHost(p device.Host) device.Code { return h.count(-1, h.Device.MemFreeHost(p)) }
func (h *held) MemAddressReserve(size, alignment uint64, at device.Ptr, flags uint64) (device.Ptr, device.Code) {
	p, code := h.Device.MemAddressReserve(size, alignment, at, flags)
	return p, h.count(1, code)
}
func (h *held) MemAddressFree(p device.Ptr, size uint64) device.Code {
	return h.count(-1, h.Device.MemAddressFree(p, size))
}

func (h *held) LaunchKernel(l *device.Launch) device.Code {
	if h.calls++; h.calls == h.failAt {
		return device.ErrorLaunchResources
	}
	return h.Device.LaunchKernel(l)
}

// free is how much memory a device has left.
func free(t *testing.T, d device.Device) uint64 {
	t.Helper()
	n, _, code := d.MemGetInfo()
	require.Equal(t, device.Success, code)
	return n
}

func TestNothingIsLeftBehind(t *testing.T) {
	h := &held{Device: sim.New(sim.Options{})}
	defer h.Close()
	before := free(t, h)
	measure(t, h)
	require.Zero(t, h.objects)
	require.Equal(t, before, free(t, h))
	launches := h.calls

	for _, at := range []int{1, 2, launches / 3, launches / 2, launches} {
		h.calls, h.failAt = 0, at
		f, _, err := Measure(context.Background(), h, func(Progress) {})
		var failed *failed
		require.ErrorAs(t, err, &failed, "launch %d of %d", at, launches)
		require.ErrorIs(t, err, device.ErrorLaunchResources)
		require.ErrorContains(t, err, "cuLaunchKernel answered CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701).")
		require.Nil(t, f)
		require.Zero(t, h.objects, "launch %d", at)
		require.Equal(t, before, free(t, h), "launch %d", at)
	}
}

func TestMeasuringCanBeStopped(t *testing.T) {
	h := &held{Device: sim.New(sim.Options{})}
	defer h.Close()
	ctx, cancel := context.WithCancel(context.Background())
	f, _, err := Measure(ctx, h, func(p Progress) {
		require.Equal(t, len(steps), p.Steps)
		if p.Step == 3 {
			cancel()
		}
		require.LessOrEqual(t, p.Step, 3)
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, f)
	require.Zero(t, h.objects)
}

// What a device does not show is kept from the built-in profile, and named.
func TestWhatDoesNotShowIsKept(t *testing.T) {
	p := other()
	p.QueueDepth = 1 << 20
	h := &held{Device: sim.New(sim.Options{Profile: p}), info: func(i *device.Info) { i.VirtualMemory = false }}
	defer h.Close()
	f := measure(t, h)
	require.ElementsMatch(t, append([]string{"queue_depth", "granularity_bytes"}, mappingConstants...), f.Kept)
	require.Equal(t, sim.H200.QueueDepth, f.Profile.QueueDepth)
	require.Equal(t, sim.H200.MemCreate, f.Profile.MemCreate)
	require.NotEqual(t, sim.H200.Launch, f.Profile.Launch)
	require.Zero(t, h.objects)
}

func TestTooLittleMemory(t *testing.T) {
	d := sim.New(sim.Options{})
	defer d.Close()
	_, code := d.MemAlloc(sim.H200.Memory - 100<<20)
	require.Equal(t, device.Success, code)
	_, _, err := Measure(context.Background(), d, func(Progress) {})
	require.ErrorContains(t, err, "end the programs that use it.")
}

// On a GPU the constants are what they are; that they are all found out, and that nothing stays, can be asked.
func TestGPU(t *testing.T) {
	g, err := driver.Open()
	if err != nil {
		t.Skip(err)
	}
	h := &held{Device: g}
	defer h.Close()
	before := free(t, h)
	f := measure(t, h)
	t.Logf("%s", f.Text())
	require.Empty(t, f.Kept)
	require.Equal(t, g.Info().Name, f.Profile.Name)
	require.Equal(t, g.Info().Driver, f.Driver)
	require.Zero(t, h.objects)
	require.InDelta(t, before, free(t, h), 64<<20)
}
