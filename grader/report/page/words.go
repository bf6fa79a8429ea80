package page

import (
	"strconv"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/native/trace"
)

// px is a length in a drawing.
type px = look.Px

// bytes is a size as a reader compares it: exact where it is small, "2 MiB" where it is not.
func bytes(n int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case n == 1:
		return "1 byte"
	case n < 16*kib:
		return grouped(n) + " B"
	case n < mib:
		return look.Figure(float64(n)/kib) + " KiB"
	case n < gib:
		return look.Figure(float64(n)/mib) + " MiB"
	}
	return look.Figure(float64(n)/gib) + " GiB"
}

// grouped is a number with its thousands set apart.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// style is how a kind of call is drawn: a class of the style sheet, which gives the colour, and a sign and a short
// name, which say the same without it.
type style struct{ Class, Sign, Name string }

func styleOf(op trace.Op) style {
	switch op {
	case trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMalloc, trace.OpMallocHost, trace.OpMemCreate,
		trace.OpMemMap,
		trace.OpBlockAlloc:
		return style{"alloc", "+", short(op)}
	case trace.OpFreeAsync, trace.OpFree, trace.OpFreeHost, trace.OpMemUnmap, trace.OpMemRelease, trace.OpBlockFree:
		return style{"free", "−", short(op)}
	case trace.OpLaunch:
		return style{"kernel", "", ""}
	case trace.OpMemcpyHtoD, trace.OpMemcpyDtoH, trace.OpMemcpyDtoD, trace.OpMemcpyHtoDAsync, trace.OpMemcpyDtoHAsync,
		trace.OpMemcpyDtoDAsync:
		return style{"copy", "⇄", short(op)}
	case trace.OpMemset, trace.OpMemsetAsync:
		return style{"copy", "=", "memset"}
	case trace.OpEventRecord:
		return style{"event", "●", "record"}
	case trace.OpStreamWaitEvent:
		return style{"event", "◆", "wait"}
	case trace.OpStreamSynchronize, trace.OpEventSynchronize, trace.OpDeviceSynchronize, trace.OpStreamQuery,
		trace.OpEventQuery:
		return style{"sync", "‖", short(op)}
	}
	return style{"other", "", short(op)}
}

var shortNames = map[trace.Op]string{
	trace.OpMallocAsync: "alloc", trace.OpMallocFromPoolAsync: "alloc", trace.OpFreeAsync: "free",
	trace.OpMemcpyHtoD: "H→D", trace.OpMemcpyHtoDAsync: "H→D", trace.OpMemcpyDtoH: "D→H", trace.OpMemcpyDtoHAsync: "D→H",
	trace.OpMemcpyDtoD: "D→D", trace.OpMemcpyDtoDAsync: "D→D",
	trace.OpStreamSynchronize: "sync", trace.OpEventSynchronize: "sync", trace.OpDeviceSynchronize: "sync",
	trace.OpStreamQuery: "query", trace.OpEventQuery: "query", trace.OpEventCreate: "event",
	trace.OpEventDestroy: "~event",
	trace.OpStreamCreate: "stream", trace.OpStreamDestroy: "~stream", trace.OpMemPoolCreate: "pool",
	trace.OpMemPoolDestroy: "~pool", trace.OpMemPoolSetAttribute: "set", trace.OpMemPoolGetAttribute: "get",
	trace.OpMemPoolTrimTo: "trim", trace.OpDeviceGetDefaultMemPool: "pool?", trace.OpDeviceGetMemPool: "pool?",
	trace.OpDeviceInfo: "device?", trace.OpHostRead: "read", trace.OpHostWrite: "write",
}

// short is a call's name where there is little room.
func short(op trace.Op) string {
	if name, ok := shortNames[op]; ok {
		return name
	}
	return strings.TrimPrefix(op.String(), "Mem")
}
