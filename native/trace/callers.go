package trace

import "runtime"

// maxDepth is how many callers a Site keeps: enough to get out of a student's helpers.
const maxDepth = 24

// Callers is the stack of its caller, innermost first, less the skip innermost frames.
func Callers(skip int) Site {
	var pcs [maxDepth]uintptr
	n := runtime.Callers(skip+2, pcs[:])
	return FramesOf(pcs[:n])
}

// FramesOf makes a Site of program counters as runtime.Callers returns them, inlined calls included.
func FramesOf(pcs []uintptr) Site {
	if len(pcs) == 0 {
		return nil
	}
	site := make(Site, 0, len(pcs))
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		if f.Function != "" {
			site = append(site, Frame{Func: f.Function, File: f.File, Line: f.Line})
		}
		if !more {
			return site
		}
	}
}
