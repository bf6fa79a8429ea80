package conformance

import "cudalab/native/cuda"

var deviceRows = []row{
	{Name: "device/queries", Note: binding, Run: func(l *log) {
		n, err := cuda.GetDeviceCount()
		l.saw("GetDeviceCount() → %s, %d", codeName(err), n)
		n, err = cuda.GetDevice()
		l.saw("GetDevice() → %s, %d", codeName(err), n)
		l.answer("SetDevice(0)", cuda.SetDevice(0))
		l.answer("SetDevice(1)", cuda.SetDevice(1))
		l.answer("SetDevice(-1)", cuda.SetDevice(-1))
		_, err = cuda.GetDeviceProperties(1)
		l.answer("GetDeviceProperties(1)", err)
	}},
	{Name: "device/properties", Note: "of the model that was recorded", Run: func(l *log) {
		p, err := cuda.GetDeviceProperties(0)
		l.answer("GetDeviceProperties(0)", err)
		l.saw("%d multiprocessors, compute capability %d.%d, %d threads per block, memory pools %t",
			p.MultiProcessorCount, p.Major, p.Minor, p.MaxThreadsPerBlock, p.MemoryPoolsSupported)
	}},
	{Name: "device/memory", Run: func(l *log) {
		p, err := cuda.GetDeviceProperties(0)
		l.must(err)
		free, total, err := cuda.MemGetInfo()
		l.answer("MemGetInfo()", err)
		l.saw("free is positive: %t, at most total: %t, total is the device's: %t",
			free > 0, free <= total, total == p.TotalGlobalMem)
	}},
	{Name: "device/synchronize-idle", Run: func(l *log) {
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "device/last-error", Note: binding, Run: func(l *log) {
		l.answer("GetLastError()", cuda.GetLastError())
		l.answer("Free(12345)", cuda.Free(garbage))
		l.answer("DeviceSynchronize()", cuda.DeviceSynchronize())
		l.answer("GetLastError()", cuda.GetLastError())
		l.answer("GetLastError()", cuda.GetLastError())
	}},
}
