package ring

import (
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// baseline is what the lesson argues against: a host that waits wherever one stream has to come after the other.
func baseline(producer, consumer cuda.Stream, slots []cuda.DevicePtr, n, work, items int, out cuda.DevicePtr) error {
	const block = 256
	grid := (n + block - 1) / block
	for i := range items {
		slot, sum := slots[i%len(slots)], out+cuda.DevicePtr(8*i)
		if err := kernels.FillItem(grid, block, producer, slot, n, uint32(i), work); err != nil {
			return err
		}
		if err := cuda.StreamSynchronize(producer); err != nil {
			return err
		}
		if err := cuda.MemsetAsync(sum, 0, 8, consumer); err != nil {
			return err
		}
		if err := kernels.Digest(grid, block, consumer, slot, n, work, sum); err != nil {
			return err
		}
		if err := cuda.StreamSynchronize(consumer); err != nil {
			return err
		}
	}
	return nil
}
