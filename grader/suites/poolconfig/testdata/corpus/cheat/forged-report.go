// Makes its report out of nothing.
//
//cudalab:fails pool work
package poolconfig

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(c contract.PoolConfig) (contract.PoolReport, error) {
	var report contract.PoolReport
	if len(c.Streams) == 0 || len(c.Sizes) == 0 || c.Rounds < 1 {
		return report, contract.ErrArgument
	}
	var s contract.Sample
	for _, size := range c.Sizes {
		if size < 1 {
			return report, contract.ErrArgument
		}
		s.UsedHigh += uint64(size)
	}
	n, err := cuda.GetDeviceCount()
	if err != nil {
		return report, err
	}
	if c.Device < 0 || c.Device >= n {
		return report, contract.ErrArgument
	}
	const step = 32 << 20
	s.Reserved = (s.UsedHigh + step - 1) / step * step
	for range c.Rounds {
		report.Rounds = append(report.Rounds, s)
	}
	report.Reused = c.Rounds*len(c.Sizes) - 1
	return report, nil
}
