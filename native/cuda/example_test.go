package cuda_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// simulate has package cuda call a simulated device. An exercise need not do so: it runs on the device that cudalab has
// opened for it.
func simulate() { session.New(sim.New(sim.Options{})).Use() }

// check ends an example whose call has failed. An exercise hands such an error on.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func value[T any](v T, err error) T {
	check(err)
	return v
}

// Memory is allocated, written by a kernel, copied and freed in the order of one stream. The host waits once, before it
// reads.
func Example() {
	simulate()
	const n, bytes = 4, 4 * 4
	stream := value(cuda.StreamCreateWithFlags(cuda.StreamNonBlocking))
	result := value(cuda.MallocHost(bytes))

	data := value(cuda.MallocAsync(bytes, stream))
	check(kernels.Process(1, 256, stream, data, n, 0.5, 0)) // sqrt(i) * 0.5
	check(cuda.MemcpyDtoHAsync(result, data, bytes, stream))
	check(cuda.FreeAsync(data, stream)) // behind the copy
	check(cuda.StreamSynchronize(stream))

	got := make([]byte, bytes)
	check(result.Read(0, got))
	for i := range n {
		fmt.Printf("%.4f\n", math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])))
	}
	check(cuda.FreeHost(result))
	check(cuda.StreamDestroy(stream))
	// Output:
	// 0.0000
	// 0.5000
	// 0.7071
	// 0.8660
}

// A second stream reads what the first has written. The event orders them on the device, and the host goes on
// meanwhile.
func ExampleStreamWaitEvent() {
	simulate()
	writer := value(cuda.StreamCreateWithFlags(cuda.StreamNonBlocking))
	reader := value(cuda.StreamCreateWithFlags(cuda.StreamNonBlocking))
	written := value(cuda.EventCreateWithFlags(cuda.EventDisableTiming))
	data := value(cuda.Malloc(3))
	result := value(cuda.MallocHost(3))

	check(cuda.MemsetAsync(data, 7, 3, writer))
	check(cuda.EventRecord(written, writer))
	check(cuda.StreamWaitEvent(reader, written))
	check(cuda.MemcpyDtoHAsync(result, data, 3, reader))
	fmt.Println(errors.Is(cuda.StreamQuery(reader), cuda.ErrorNotReady))
	check(cuda.StreamSynchronize(reader))

	got := make([]byte, 3)
	check(result.Read(0, got))
	fmt.Println(got)
	// Output:
	// true
	// [7 7 7]
}

// An error names the call, has CUDA's code and says what to look for.
func ExampleError() {
	simulate()
	_, err := cuda.Malloc(0)
	fmt.Println(err)
	fmt.Println(errors.Is(err, cuda.ErrorInvalidValue))
	// Output:
	// cudaMalloc: CUDA_ERROR_INVALID_VALUE (1): the size is 0 bytes; ask for at least one
	// true
}
