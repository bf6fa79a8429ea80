package kernels_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// doors are all functions that a student's code can call of package cuda, and those of kernels that tries has added.
var doors = map[string]any{
	"cuda.DeviceGetDefaultMemPool": cuda.DeviceGetDefaultMemPool, "cuda.DeviceGetMemPool": cuda.DeviceGetMemPool,
	"cuda.DeviceSetMemPool": cuda.DeviceSetMemPool, "cuda.DeviceSynchronize": cuda.DeviceSynchronize,
	"cuda.EventCreate": cuda.EventCreate, "cuda.EventCreateWithFlags": cuda.EventCreateWithFlags,
	"cuda.EventDestroy": cuda.EventDestroy, "cuda.EventElapsedTime": cuda.EventElapsedTime,
	"cuda.EventQuery":  cuda.EventQuery,
	"cuda.EventRecord": cuda.EventRecord, "cuda.EventSynchronize": cuda.EventSynchronize, "cuda.Free": cuda.Free,
	"cuda.FreeAsync": cuda.FreeAsync, "cuda.FreeHost": cuda.FreeHost, "cuda.GetDevice": cuda.GetDevice,
	"cuda.GetDeviceCount": cuda.GetDeviceCount, "cuda.GetDeviceProperties": cuda.GetDeviceProperties,
	"cuda.GetLastError": cuda.GetLastError, "cuda.LaunchKernel": cuda.LaunchKernel, "cuda.Malloc": cuda.Malloc,
	"cuda.MallocAsync": cuda.MallocAsync, "cuda.MallocFromPoolAsync": cuda.MallocFromPoolAsync,
	"cuda.MallocHost":     mallocHost,
	"cuda.MemAddressFree": cuda.MemAddressFree, "cuda.MemAddressReserve": cuda.MemAddressReserve,
	"cuda.MemCreate":                   cuda.MemCreate,
	"cuda.MemGetAllocationGranularity": cuda.MemGetAllocationGranularity, "cuda.MemGetInfo": cuda.MemGetInfo,
	"cuda.MemMap":        cuda.MemMap,
	"cuda.MemPoolCreate": cuda.MemPoolCreate, "cuda.MemPoolDestroy": cuda.MemPoolDestroy,
	"cuda.MemPoolGetAttribute": cuda.MemPoolGetAttribute, "cuda.MemPoolSetAttribute": cuda.MemPoolSetAttribute,
	"cuda.MemPoolTrimTo": cuda.MemPoolTrimTo, "cuda.MemRelease": cuda.MemRelease, "cuda.MemSetAccess": cuda.MemSetAccess,
	"cuda.MemUnmap": cuda.MemUnmap, "cuda.MemcpyDtoD": cuda.MemcpyDtoD, "cuda.MemcpyDtoDAsync": cuda.MemcpyDtoDAsync,
	"cuda.MemcpyDtoH": cuda.MemcpyDtoH, "cuda.MemcpyDtoHAsync": cuda.MemcpyDtoHAsync, "cuda.MemcpyHtoD": cuda.MemcpyHtoD,
	"cuda.MemcpyHtoDAsync": cuda.MemcpyHtoDAsync, "cuda.Memset": cuda.Memset, "cuda.MemsetAsync": cuda.MemsetAsync,
	"cuda.SetDevice": cuda.SetDevice, "cuda.StreamCreate": cuda.StreamCreate,
	"cuda.StreamCreateWithFlags": cuda.StreamCreateWithFlags, "cuda.StreamDestroy": cuda.StreamDestroy,
	"cuda.StreamQuery": cuda.StreamQuery, "cuda.StreamSynchronize": cuda.StreamSynchronize,
	"cuda.StreamWaitEvent": cuda.StreamWaitEvent,
	"cuda.Error.Error":     (*cuda.Error).Error, "cuda.Error.Unwrap": (*cuda.Error).Unwrap,
	"cuda.HostBuffer.At": cuda.HostBuffer.At, "cuda.HostBuffer.Len": cuda.HostBuffer.Len,
	"cuda.HostBuffer.Read": cuda.HostBuffer.Read, "cuda.HostBuffer.Write": cuda.HostBuffer.Write,
	// What comes out of them has methods as well.
	"device.Dim.Count": device.Dim.Count, "device.Code.Error": device.Code.Error, "device.Code.String": device.Code.String,
	"device.Code.Sticky": device.Code.Sticky, "device.Code.Name": device.Code.Name,
	"device.Kernel.Made": (*device.Kernel).Made, "device.Kernel.Entry": (*device.Kernel).Entry,
	"device.Kernel.PTX": (*device.Kernel).PTX, "device.Kernel.Params": (*device.Kernel).Params,
	"device.Kernel.Exec": (*device.Kernel).Exec, "device.Kernel.Accesses": (*device.Kernel).Accesses,
	"device.Kernel.Work": (*device.Kernel).Work,
}

// tries adds launchers of a lesson's kernels, in the file that tests them.
func tries(launchers ...any) {
	for _, f := range launchers {
		doors[strings.TrimPrefix(runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name(), "cudalab/")] = f
	}
}

// mallocHost leaves out what this machine would have to have.
func mallocHost(size int64) (cuda.HostBuffer, error) {
	if size > 1<<24 && size <= 4<<30 {
		return cuda.HostBuffer{}, nil
	}
	return cuda.MallocHost(size)
}

// A function that is not tried is noticed; of kernels, package authoring notices it.
func TestAllDoorsAreTried(t *testing.T) {
	found := []string{}
	files, err := filepath.Glob("../native/cuda/*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			name := "cuda." + f.Name.Name
			if f.Recv != nil {
				of := f.Recv.List[0].Type
				if p, ok := of.(*ast.StarExpr); ok {
					of = p.X
				}
				name = "cuda." + of.(*ast.Ident).Name + "." + f.Name.Name
			}
			found = append(found, name)
		}
	}
	var tried []string
	for name := range doors {
		if strings.HasPrefix(name, "cuda.") {
			tried = append(tried, name)
		}
	}
	require.ElementsMatch(t, found, tried)
}

// world is a device with something of everything on it, of which some is gone.
type world struct {
	r      *rand.Rand
	values map[reflect.Type][]reflect.Value
	device *sim.Device
}

const granule = 2 << 20

func newWorld(t *testing.T, r *rand.Rand, traced bool) *world {
	w := &world{r: r, values: map[reflect.Type][]reflect.Value{}, device: sim.New(sim.Options{Seed: r.Uint64(),
		Jitter: true})}
	foreign := session.New(sim.New(sim.Options{}))
	foreign.Use()
	elsewhere, err := cuda.StreamCreate()
	require.NoError(t, err)
	s := session.New(w.device)
	s.Use()
	if traced {
		s.StartTrace()
		s.SetQuota(512 << 20)
	}
	stream, gone := must(cuda.StreamCreate())(t), must(cuda.StreamCreate())(t)
	event, past := must(cuda.EventCreate())(t), must(cuda.EventCreate())(t)
	pool, drained := must(cuda.MemPoolCreate(cuda.MemPoolProps{}))(t), must(cuda.MemPoolCreate(cuda.MemPoolProps{}))(t)
	buffer, freed := must(cuda.MallocHost(4096))(t), must(cuda.MallocHost(64))(t)
	prop := cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned,
		Location: cuda.MemLocation{Type: cuda.MemLocationTypeDevice}}
	handle, released := must(cuda.MemCreate(granule, prop, 0))(t), must(cuda.MemCreate(granule, prop, 0))(t)
	at, old, pooled := must(cuda.Malloc(1<<16))(t), must(cuda.Malloc(64))(t), must(cuda.MallocFromPoolAsync(256, pool,
		stream))(t)
	area := must(cuda.MemAddressReserve(4*granule, 0, 0, 0))(t)
	for _, err := range []error{cuda.StreamDestroy(gone), cuda.EventDestroy(past), cuda.MemPoolDestroy(drained),
		cuda.FreeHost(freed), cuda.MemRelease(released), cuda.Free(old), cuda.MemMap(area, granule, 0, handle, 0),
		cuda.EventRecord(event, stream)} {
		require.NoError(t, err)
	}
	add(w, cuda.Stream{}, stream, gone, elsewhere)
	add(w, cuda.Event{}, event, past)
	add(w, cuda.MemPool{}, pool, drained)
	add(w, cuda.HostBuffer{}, buffer, freed)
	add(w, cuda.MemGenericAllocationHandle{}, handle, released)
	add(w, cuda.DevicePtr(0), 1, at, at+4, at-1, at+1<<16-8, old, pooled, area, area+granule, math.MaxUint64, 1<<63)
	add[cuda.HostMemory](w, nil, cuda.Pageable(nil), make(cuda.Pageable, 64), buffer, freed, buffer.At(-1),
		buffer.At(math.MaxInt64), buffer.At(4000), cuda.HostBuffer{}, (*cuda.HostBuffer)(nil), (*cuda.Pageable)(nil),
		struct{ cuda.HostMemory }{})
	add[*device.Kernel](w, nil, new(device.Kernel))
	add[*cuda.Error](w, nil, new(cuda.Error), &cuda.Error{Code: math.MaxInt32})
	add[*device.Launch](w, nil, new(device.Launch), &device.Launch{Kernel: new(device.Kernel)})
	add[device.Memory](w, nil)
	add(w, prop, cuda.MemAllocationProp{}, cuda.MemAllocationProp{Type: -1, Location: cuda.MemLocation{Type: 99,
		ID: math.MinInt32}})
	add[float32](w, 0, 1, float32(math.NaN()), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), math.MaxFloat32)
	return w
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		require.NoError(t, err)
		return v
	}
}

func add[T any](w *world, values ...T) {
	of := reflect.TypeFor[T]()
	for _, v := range values {
		w.values[of] = append(w.values[of], reflect.ValueOf(&v).Elem())
	}
}

var numbers = []int64{0, 1, -1, 2, 3, 4, 7, 8, 16, 64, 255, 256, 257, 1024, 1025, 4096, 65535, 65536, 1 << 20, granule,
	-granule, 4 * granule, math.MaxInt32, math.MinInt32, 1 << 31, 1 << 32, 1<<32 + 1, 1 << 40, 1 << 62, math.MaxInt64,
	math.MaxInt64 - 255, math.MinInt64}

// value is a hostile value of a type.
func (w *world) value(of reflect.Type) reflect.Value {
	if known := w.values[of]; len(known) > 0 {
		return known[w.r.IntN(len(known))]
	}
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Struct:
		for i := range of.NumField() {
			v.Field(i).Set(w.value(of.Field(i).Type))
		}
	case reflect.Slice:
		if n := w.r.IntN(20) - 4; n >= 0 {
			v.Set(reflect.MakeSlice(of, n, n))
			for i := range n {
				v.Index(i).Set(w.value(of.Elem()))
			}
		}
	default:
		v.Set(reflect.ValueOf(numbers[w.r.IntN(len(numbers))]).Convert(of))
	}
	return v
}

// Whatever a student's code passes, the answer is a value: a panic in here would be told as a fault of cudalab's.
func TestNoValueMakesOursPanic(t *testing.T) {
	const tries = 200
	for _, traced := range []bool{false, true} {
		r := rand.New(rand.NewPCG(7, 7))
		for _, name := range slices.Sorted(maps.Keys(doors)) {
			f := reflect.ValueOf(doors[name])
			var w *world
			for try := range tries {
				if w == nil || w.device.CtxSynchronize().Sticky() || try%20 == 0 {
					w = newWorld(t, r, traced)
				}
				var args []reflect.Value
				for i := range f.Type().NumIn() {
					args = append(args, w.value(f.Type().In(i)))
				}
				began := time.Now()
				called(t, f, name, args)
				require.Less(t, time.Since(began), 20*time.Second, "%s(%s)", name, text(args))
			}
		}
	}
}

func called(t *testing.T, f reflect.Value, name string, args []reflect.Value) {
	defer func() {
		if v := recover(); v != nil {
			require.Fail(t, fmt.Sprintf("%s(%s) panicked: %v", name, text(args), v))
		}
	}()
	var results []reflect.Value
	if f.Type().IsVariadic() {
		results = f.CallSlice(args)
	} else {
		results = f.Call(args)
	}
	for _, r := range results {
		if err, ok := r.Interface().(error); ok && err != nil {
			require.NotEmpty(t, err.Error())
			_ = errors.Is(err, cuda.ErrorNotReady)
		}
	}
	_ = cuda.DeviceSynchronize() // the work runs when it is waited for
}

func text(args []reflect.Value) string {
	var all []string
	for _, a := range args {
		all = append(all, fmt.Sprintf("%s %+v", a.Type(), a.Interface()))
	}
	return strings.Join(all, ", ")
}
