package kernels_test

import (
	"encoding/binary"
	"fmt"
	"math"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// Kernel process writes one float32 per thread. Package oracle says what each has to be, to the bit.
func ExampleProcess() {
	session.New(sim.New(sim.Options{})).Use()
	const n, block, multiplier, work = 1000, 256, 2.5, 3
	grid := (n + block - 1) / block

	data, err := cuda.Malloc(4 * n)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := kernels.Process(grid, block, cuda.Stream{}, data, n, multiplier, work); err != nil {
		fmt.Println(err)
		return
	}
	got := make([]byte, 4*n)
	if err := cuda.MemcpyDtoH(cuda.Pageable(got), data, 4*n); err != nil { // waits for the kernel
		fmt.Println(err)
		return
	}

	want, wrong := oracle.NewProcessed(multiplier, work), 0
	for i := range n {
		if math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])) != want.At(i) {
			wrong++
		}
	}
	fmt.Println(grid, "blocks,", wrong, "elements wrong")
	fmt.Println("data[0] =", want.At(0))
	// Output:
	// 4 blocks, 0 elements wrong
	// data[0] = 9162.611
}
