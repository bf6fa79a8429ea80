package driver

import (
	"strings"

	"github.com/ebitengine/purego"
)

// libraries are the places of the driver's library: wherever the dynamic linker looks, and Windows' own directory of it
// under WSL, where it does not look.
var libraries = []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}

// openLibrary loads the driver's library and returns a function that finds its symbols.
func openLibrary() (lookup func(name string) uintptr, err error) {
	var refusals []string
	for _, path := range libraries {
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			refusals = append(refusals, err.Error())
			continue
		}
		return func(name string) uintptr {
			address, err := purego.Dlsym(handle, name)
			if err != nil {
				return 0
			}
			return address
		}, nil
	}
	return nil, noLibrary(strings.Join(refusals, "; "))
}
