package heap

import (
	"runtime"
	"syscall"
)

// fence keeps a large piece of memory from beginning in the huge pages and ending behind them. Go fills with zeros what has been in use,
// and takes what is fresh as it is: such a piece would be touched from end to end, and a table of a gibibyte that nobody ever
// looks into would take one.
// By being in use it also keeps the collector away until there is as much garbage again.
//
//lint:ignore U1000 it has only to be there
var fence []byte

// fenceSize is more than what is free ahead of the huge pages, so that it comes behind them.
const fenceSize = 8 << 20

// plugSize is more than what has been in use and is free again where the huge pages would begin: then all of them would be filled with zeros.
const plugSize = 256 << 10

// hugePages has the heap grow by so many bytes in huge pages, which are garbage at once; it reports whether there may be such pages.
func hugePages(bytes int) bool {
	plug := make([]byte, plugSize)
	memory := make([]byte, bytes)
	runtime.KeepAlive(plug)
	asked := syscall.Madvise(memory, syscall.MADV_HUGEPAGE)
	fence = make([]byte, fenceSize)
	runtime.KeepAlive(memory)
	return asked == nil
}
