package driver

import (
	"bytes"
	"strings"
	"unsafe"

	"cudalab/native/device"
)

// LaunchKernel launches a kernel. The first launch loads the kernel's module, which synchronises and takes some 80 ms
// where the driver has not compiled its PTX before: see LoadKernel.
func (d *Device) LaunchKernel(l *device.Launch) device.Code {
	function, code := d.function(l.Kernel)
	if code != device.Success {
		return code
	}
	f := frames.Get().(*frame)
	f.args = l.Args
	f.argv = [11]uintptr{function,
		uintptr(l.Grid.X), uintptr(max(l.Grid.Y, 1)), uintptr(max(l.Grid.Z, 1)),
		uintptr(l.Block.X), uintptr(max(l.Block.Y, 1)), uintptr(max(l.Block.Z, 1)),
		0, // bytes of dynamic shared memory
		uintptr(l.Stream), uintptr(unsafe.Pointer(&f.params)), 0}
	code = d.call(d.lib.launchKernel, f.argv[:]...)
	frames.Put(f)
	return code
}

// LoadKernel loads and links a kernel ahead of its first launch. Where the driver refuses its PTX, PTXLog says why.
func (d *Device) LoadKernel(k *device.Kernel) device.Code {
	_, code := d.function(k)
	return code
}

// PTXLog is what the driver's compiler said about the last PTX it refused; "" if it has refused none or said nothing.
func (d *Device) PTXLog() string {
	d.loading.Lock()
	defer d.loading.Unlock()
	return d.ptxLog
}

// function is the kernel's CUfunction. A failure is not remembered: it may be for want of memory.
func (d *Device) function(k *device.Kernel) (uintptr, device.Code) {
	if function, loaded := d.functions.Load(k); loaded {
		return function.(uintptr), device.Success
	}
	d.loading.Lock()
	defer d.loading.Unlock()
	module, code := d.module(k.PTX())
	if code != device.Success {
		return 0, code
	}
	var function uintptr
	code = d.call(d.lib.moduleGetFunction,
		uintptr(unsafe.Pointer(&function)), module, uintptr(unsafe.Pointer(cString(k.Entry()))))
	if code != device.Success {
		return 0, code
	}
	d.functions.Store(k, function)
	return function, device.Success
}

// Options of cuModuleLoadDataEx (cuda.h: CUjit_option).
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

const logSize = 8 << 10

// jitOptions are the arguments of one cuModuleLoadDataEx. The driver takes each value, address or number, in the space
// of a pointer. The addresses are those of the logs behind them in this struct, which live and stay in place as long as
// it does.
type jitOptions struct {
	keys            [4]int32
	values          [4]uintptr
	infoLog, errLog [logSize]byte
}

// module is the CUmodule of a PTX text, loaded if it is not yet. The caller holds d.loading.
func (d *Device) module(ptx string) (uintptr, device.Code) {
	if module, loaded := d.modules[ptx]; loaded {
		return module, device.Success
	}
	var module uintptr
	o := &jitOptions{keys: [4]int32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize}}
	o.values = [4]uintptr{uintptr(unsafe.Pointer(&o.infoLog)), logSize, uintptr(unsafe.Pointer(&o.errLog)), logSize}
	code := d.call(d.lib.moduleLoadDataEx,
		uintptr(unsafe.Pointer(&module)), uintptr(unsafe.Pointer(cString(ptx))),
		uintptr(len(o.keys)), uintptr(unsafe.Pointer(&o.keys)), uintptr(unsafe.Pointer(&o.values)))
	if code != device.Success {
		d.ptxLog = strings.TrimSpace(goString(o.errLog[:]) + "\n" + goString(o.infoLog[:]))
		return 0, code
	}
	d.modules[ptx] = module
	return module, device.Success
}

// cString is s with the zero byte that ends a string in C.
func cString(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}

// goString is the C string that b starts with.
func goString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}
