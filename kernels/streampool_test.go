package kernels_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.Lease, kernels.Inspect) }

func TestLeaseEqualsTheOracleAndInspectCountsWhatDiffers(t *testing.T) {
	tenants{kernels.Lease, kernels.Inspect, func(data cuda.DevicePtr, tenant uint32, i int64) uint64 {
		return oracle.Own(uint64(data)+uint64(8*i), tenant)
	}}.test(t)
}

func TestLeaseTakesNoMoreTurnsThanAnInt(t *testing.T) {
	useDevice(t, "sim")
	require.ErrorIs(t, kernels.Lease(1, 32, cuda.Stream{}, 0, 0, 0, 1<<40, 0), cuda.ErrorInvalidValue)
}
