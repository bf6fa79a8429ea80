package profile

import (
	"errors"
	"fmt"
	"strings"

	"cudalab/native/sim"
)

// bound says between what a number makes sense. Beyond, it is a slip, or would make the simulator's clock run over.
type bound struct {
	least, most uint64
	unit        string // in the plural
	powerOfTwo  bool
}

func (b bound) String() string {
	kind := "a whole number"
	if b.powerOfTwo {
		kind = "a power of two"
	}
	return strings.TrimSpace(fmt.Sprintf("%s from %d to %d %s", kind, b.least, b.most, b.unit))
}

// holds reports whether a number makes sense.
func (b bound) holds(v uint64) bool {
	return v >= b.least && v <= b.most && (!b.powerOfTwo || v&(v-1) == 0)
}

const (
	kib = 1 << 10
	gib = 1 << 30
)

// nanoseconds of one call or operation, 10 s at most.
var nanoseconds = bound{least: 1, most: 10_000_000_000, unit: "nanoseconds"}

// curveBytes is how large what a curve was measured with may be.
var curveBytes = bound{least: 1, most: 8192 * gib, unit: "bytes"}

// own are the bounds of the constants that have some of their own. The simulator makes memory by 256 KiB.
var own = map[string]bound{
	"memory_bytes":               {least: gib, most: 8192 * gib, unit: "bytes"},
	"multiprocessors":            {least: 1, most: 10_000},
	"threads_per_block":          {least: 32, most: 4096},
	"threads_per_multiprocessor": {least: 32, most: 65_536},
	"blocks_per_multiprocessor":  {least: 1, most: 4096},
	"step_ps":                    {least: 1, most: 1_000_000_000, unit: "picoseconds"},
	"step_warps":                 {least: 1, most: 2048},
	"thread_bytes_per_s":         {least: 1000, most: 10_000_000_000, unit: "bytes per second"},
	"queue_depth":                {least: 16, most: 1 << 20},
	"granule_bytes":              {least: 256 * kib, most: gib, unit: "bytes", powerOfTwo: true},
	"pool_step_bytes":            {least: 256 * kib, most: gib, unit: "bytes", powerOfTwo: true},
	"granularity_bytes":          {least: 4 * kib, most: gib, unit: "bytes", powerOfTwo: true},
}

// boundOf are the bounds of a constant that is a number: its own, or those of its unit.
func boundOf(name string) bound {
	switch b, found := own[name]; {
	case found:
		return b
	case strings.HasSuffix(name, "_ns"):
		return nanoseconds
	case strings.HasSuffix(name, "_bytes_per_s"):
		return bound{least: 1_000_000, most: 1e15, unit: "bytes per second"}
	case strings.HasSuffix(name, "_bytes"):
		return bound{least: 1, most: gib, unit: "bytes"}
	}
	return bound{least: 1, most: 1 << 30}
}

// valid says, if so, what is wrong with a constant.
func valid(c sim.Constant) error {
	switch v := c.Value.(type) {
	case *int:
		return validNumber(c.Name, int64(*v))
	case *int64:
		return validNumber(c.Name, *v)
	case *uint64:
		if b := boundOf(c.Name); !b.holds(*v) {
			return fmt.Errorf("%s is %d, but should be %v", c.Name, *v, b)
		}
	case *[2]int:
		if v[0] < 5 || v[0] > 99 || v[1] < 0 || v[1] > 9 {
			return fmt.Errorf(`%s is %d.%d, but should be one from 5.0 to 99.9`, c.Name, v[0], v[1])
		}
	case *sim.Curve:
		return validCurve(c.Name, *v)
	default:
		panic(fmt.Sprintf("profile: constant %s is a %T", c.Name, v))
	}
	return nil
}

func validNumber(name string, v int64) error {
	if b := boundOf(name); v < 0 || !b.holds(uint64(v)) {
		return fmt.Errorf("%s is %d, but should be %v", name, v, b)
	}
	return nil
}

// mostPoints is how many points a curve may have.
const mostPoints = 100

// validCurve asks of a curve what sim.Curve says of one, and that it stays within an hour wherever it may be asked for.
func validCurve(name string, c sim.Curve) error {
	if len(c) == 0 || len(c) > mostPoints {
		return fmt.Errorf(`%s has %d points, but should have 1 to %d, such as {"bytes": 4096, "ns": 27500}`, name, len(c),
			mostPoints)
	}
	for i, point := range c {
		switch {
		case !curveBytes.holds(point.Bytes):
			return fmt.Errorf("point %d of %s is for %d bytes, but should be for %v", i+1, name, point.Bytes, curveBytes)
		case point.Nanos < 0 || !nanoseconds.holds(uint64(point.Nanos)):
			return fmt.Errorf("point %d of %s is %d, but should be %v", i+1, name, point.Nanos, nanoseconds)
		case i > 0 && point.Bytes <= c[i-1].Bytes:
			return fmt.Errorf("point %d of %s is for %d bytes and the one before it for %d, but they should ascend", i+1, name,
				point.Bytes, c[i-1].Bytes)
		}
	}
	if n := len(c); n > 1 && c[n-1].Nanos < c[n-2].Nanos {
		return fmt.Errorf("the last point of %s costs %d ns and the one before it %d, but what is larger still goes by the "+
			"two, so the last should not cost less", name, c[n-1].Nanos, c[n-2].Nanos)
	}
	const hour = 3600e9
	if c.At(curveBytes.most) > hour {
		return fmt.Errorf("%s rises from its last point but one to the last so steeply that %d GiB would take hours", name,
			curveBytes.most/gib)
	}
	return nil
}

// consistent says, if so, which constants, each valid by itself, contradict each other.
func consistent(p *sim.Profile) error {
	const warp = 32
	whole := int64((p.MaxThreads + warp - 1) / warp * warp)
	switch {
	case p.ThreadsPerMultiprocessor < whole:
		return fmt.Errorf("threads_per_multiprocessor is %d, but should be at least threads_per_block in whole warps of %d "+
			"threads, %d: a multiprocessor holds whole blocks", p.ThreadsPerMultiprocessor, warp, whole)
	case p.BlocksPerMultiprocessor > p.ThreadsPerMultiprocessor:
		return fmt.Errorf("blocks_per_multiprocessor is %d, but should be at most threads_per_multiprocessor, %d",
			p.BlocksPerMultiprocessor, p.ThreadsPerMultiprocessor)
	case p.PoolStep > p.Memory || p.Granule > p.Memory || p.Granularity > p.Memory:
		return errors.New("memory_bytes should be more than pool_step_bytes, granule_bytes and granularity_bytes")
	case p.SharedBandwidth < p.MemoryBandwidth:
		return fmt.Errorf("shared_bytes_per_s is %d, but should be at least memory_bytes_per_s, %d: several have what "+
			"one has", p.SharedBandwidth,
			p.MemoryBandwidth)
	case p.LinkBandwidth < max(p.HtoDBandwidth, p.DtoHBandwidth):
		return fmt.Errorf("link_bytes_per_s is %d, but should be at least htod_bytes_per_s and dtoh_bytes_per_s, %d and %d",
			p.LinkBandwidth, p.HtoDBandwidth, p.DtoHBandwidth)
	}
	return nil
}
