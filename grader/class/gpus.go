package class

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// perGPU is how many submissions share a GPU at one time. Its processes take turns, so more of them only wait for each
// other: 12 submissions took 40 s by twos, 46 s by fours and 63 s by eights on one H200 with 16 processors.
const perGPU = 2

// jobs is how many of so many submissions are graded at one time.
func (g *grading) jobs(submissions int) int {
	n := runtime.NumCPU()
	if g.header.Device.Kind == "gpu" {
		n = min(n, perGPU*len(g.places()))
	}
	return min(cmp.Or(g.Jobs, n), max(submissions, 1))
}

// places are the GPUs to use; on the simulator one without a name.
func (g *grading) places() []string {
	if g.header.Device.Kind != "gpu" {
		return []string{""}
	}
	return gpusOf(g.Options)
}

// gpusOf are the GPUs to use, one at least: those asked for, or those that CUDA_VISIBLE_DEVICES lists, or else all
// of the machine's.
func gpusOf(o Options) []string {
	if len(o.GPUs) > 0 {
		return o.GPUs
	}
	if listed, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
		if names := SplitGPUs(listed); len(names) > 0 {
			return names
		}
		return []string{""} // whoever hides all has none
	}
	// NVIDIA's kernel driver has a folder here for each GPU; there is none on other systems or under WSL.
	found, err := filepath.Glob("/proc/driver/nvidia/gpus/*")
	if err != nil || len(found) == 0 {
		return []string{"0"}
	}
	var names []string
	for i := range found {
		names = append(names, strconv.Itoa(i))
	}
	return names
}

// SplitGPUs takes "0,1" apart.
func SplitGPUs(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// lostAfter is how many submissions in a row, all different, a GPU may fail at before it is taken for lost. One
// submission's own doing never reaches that.
const lostAfter = 3

// errNoGPU is the error of take where every GPU is lost.
var errNoGPU = errors.New("every GPU has failed at several submissions in a row")

// gpus hands GPUs to workers. On the simulator there is one place without a name that never fails for good.
type gpus struct {
	mu  sync.Mutex
	all []*gpu
}

// gpu is one, named as in CUDA_VISIBLE_DEVICES; its fields are under gpus.mu.
type gpu struct {
	name   string
	load   int      // workers that use it
	failed []string // the submissions in a row that it failed at
}

func newGPUs(names []string) *gpus {
	p := &gpus{}
	for _, name := range names {
		p.all = append(p.all, &gpu{name: name})
	}
	return p
}

// take is the GPU with the fewest workers, another than the one to avoid if there is one.
func (p *gpus) take(avoid *gpu) (*gpu, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var best *gpu
	for _, g := range p.all {
		if g.lost() {
			continue
		}
		if best == nil || best == avoid || g != avoid && g.load < best.load {
			best = g
		}
	}
	if best == nil {
		return nil, errNoGPU
	}
	best.load++
	return best, nil
}

// give brings a GPU back and says whether it failed at a submission. It reports whether that was once too often.
func (p *gpus) give(g *gpu, id string, failed bool) (lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g.load--
	before := g.lost()
	switch {
	case !failed:
		g.failed = nil
	case !slices.Contains(g.failed, id):
		g.failed = append(g.failed, id)
	}
	return g.lost() && !before
}

func (g *gpu) lost() bool { return g.name != "" && len(g.failed) >= lostAfter }
