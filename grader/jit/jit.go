// Package jit has the driver compile the lessons' kernels before strangers' code runs. The driver keeps what it has
// compiled in a folder, its cache, and believes what it finds there: a runner that could write to that folder could
// change its neighbours' kernels. So the folder is filled by a process that runs none of theirs, and runners may only
// read it. It saves each of them some 80 ms for every module.
package jit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"cudalab/kernels/probe"
	"cudalab/native/driver"
)

// compilerName is argv[0] of this program where it is started again to compile. It never comes to its main function then.
const compilerName = "cudalab-jit"

// compileTimeout is far above the seconds that the first start of the driver in a boot may take.
const compileTimeout = 2 * time.Minute

func init() {
	if len(os.Args) == 1 && os.Args[0] == compilerName {
		n, err := compile()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(n)
		os.Exit(0)
	}
}

// compile loads every kernel onto the GPU.
func compile() (int, error) {
	g, err := driver.Open()
	if err != nil {
		return 0, err
	}
	defer g.Close() // nothing was left on it
	return probe.Ready(g)
}

// Fill has the driver compile every kernel for a GPU, in a process of its own, and leaves the result in dir, which is the
// caller's. visible is that process's CUDA_VISIBLE_DEVICES; "": as it is for cudalab. It answers how many kernels there
// are; where there is no GPU to be had the error says why.
func Fill(ctx context.Context, dir, visible string) (kernels int, err error) {
	self := "/proc/self/exe" // also when the file has been replaced meanwhile
	if runtime.GOOS != "linux" {
		if self, err = os.Executable(); err != nil {
			return 0, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{compilerName}
	cmd.Env = append(os.Environ(), "CUDA_CACHE_PATH="+dir, "CUDA_CACHE_DISABLE=0")
	if visible != "" {
		cmd.Env = append(cmd.Env, "CUDA_VISIBLE_DEVICES="+visible)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	switch said := bytes.TrimSpace(stderr.Bytes()); {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("compiling the kernels: %w", ctx.Err())
	case err != nil && len(said) > 0:
		return 0, errors.New(string(said))
	case err != nil:
		return 0, fmt.Errorf("compiling the kernels: %w", err)
	}
	return strconv.Atoi(string(bytes.TrimSpace(stdout)))
}
