package heap

import "syscall"

// hugePages has the heap grow by so many bytes in huge pages, which are garbage at once; it reports whether there may be such pages.
func hugePages(bytes int) bool {
	return syscall.Madvise(make([]byte, bytes), syscall.MADV_HUGEPAGE) == nil
}
