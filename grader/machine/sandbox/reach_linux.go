package sandbox

import (
	"cmp"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/machine/sandbox/rights"
)

// files are what the policy lets a program reach.
func (p *Policy) files(program string) rights.Files {
	f := rights.Files{
		Execute: []string{program},
		Read:    slices.Concat(processor, p.ReadOnly),
		Write:   p.ReadWrite,
		Devices: []string{"/dev/null"},
	}
	if loader := loader(program); loader != "" {
		f.Execute = append(f.Execute, loader)
		f.Read = append(f.Read, libraries()...)
	}
	if p.GPU {
		f.Read = append(f.Read, driverFiles...)
		f.Devices = append(f.Devices, driverNodes()...)
	}
	return f
}

func (p *Policy) threads() int { return cmp.Or(p.Threads, defaultThreads) }

// loader is the dynamic linker that a program asks for (ELF's PT_INTERP), empty if it is linked statically. The kernel
// executes it in the program's stead.
func loader(program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return "" // whatever it is, executing it tells
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			path, err := io.ReadAll(p.Open())
			if err == nil {
				return strings.TrimRight(string(path), "\x00")
			}
		}
	}
	return ""
}

// libraries are the places where dynamic linkers look: ld.so's cache and default folders, musl's list of them, NixOS's
// and WSL's folders of drivers, and what the user names.
func libraries() []string {
	paths := []string{"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib",
		"/usr/local/cuda",
		"/usr/local/nvidia", "/nix/store", "/run/opengl-driver",
		"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path"}
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		if filepath.IsAbs(dir) {
			paths = append(paths, dir)
		}
	}
	return paths
}

// processor is where Go's runtime and C libraries look for the number of processors and the size of pages.
var processor = []string{"/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage"}

// driverFiles are what libcuda reads while it looks for GPUs. They tell about the machine, not about its users.
var driverFiles = []string{
	"/proc/driver", "/proc/devices", "/proc/modules", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version",
	"/proc/filesystems", "/proc/sys/vm", "/proc/sys/kernel/osrelease",
	"/sys/bus/pci", "/sys/class", "/sys/dev", "/sys/devices", "/sys/module",
	"/etc/nvidia", "/usr/share/nvidia",
}

// driverNodes are the driver's device nodes: /dev/nvidiactl, /dev/nvidia-uvm, one for each GPU, those for parts of one
// (MIG) in /dev/nvidia-caps, and WSL's.
func driverNodes() []string {
	nodes, err := filepath.Glob("/dev/nvidia*")
	if err != nil {
		return nil // only of a bad pattern
	}
	return append(nodes, "/dev/dxg")
}
