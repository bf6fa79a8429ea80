package compile

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// standard are the imports that an exercise may have besides api.courses. None of them reaches the operating system,
// the clock, another goroutine or memory behind Go's back.
var standard = []string{
	"cmp", "container/heap", "container/list", "container/ring", "errors", "fmt", "iter", "maps", "math", "math/bits",
	"slices", "sort", "strconv", "strings",
}

// importNames maps the names that a file's imports have in it to their paths.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// words are a reason and a way out.
type words struct{ why, fix string }

var (
	outside = words{
		"An exercise works on the device alone: what it needs comes in as arguments, and what it has to say it returns.",
		"Return an error instead of exiting; fmt.Println is allowed for looking at a value.",
	}
	parallel = words{
		"Exercises run in one goroutine: the parallelism is the device's, and streams and events are what orders it.",
		"Leave it out: nothing here is called from two goroutines at once.",
	}
	repeatable = words{
		"The same workload has to give the same calls, or a failure could not be shown to you again.",
		"Decide by the arguments alone.",
	}
)

// special has words for imports that people reach for with something in mind.
var special = map[string]words{
	"unsafe": {
		"Device memory is no Go memory: a pointer to it means nothing to Go, and the grader relies on Go's memory safety.",
		"Hold device memory as cuda.DevicePtr, which is a number: add byte offsets to it. Pinned memory is read and " +
			"written with HostBuffer.Read and HostBuffer.Write.",
	},
	"C": {
		"Exercises build without a C compiler or the CUDA toolkit; package cuda talks to the driver for you.",
		"Take CUDA's calls from cudalab/native/cuda: cudaMallocAsync is cuda.MallocAsync.",
	},
	"time": {
		"The host's clock does not see the device: a call returns long before its work is done, and sleeping orders nothing.",
		"Order work with events and streams; to time it, record two events and ask cuda.EventElapsedTime.",
	},
	"runtime": {
		"The garbage collector does not know device memory, and a finalizer would free it at a moment no stream knows of.",
		"Free by an explicit call, in a stream that is ordered after the last use.",
	},
	"reflect": {
		"With reflection a program can change values that belong to other packages.",
		"Write the types out; type parameters are allowed.",
	},
	"os": outside, "io": outside, "log": outside, "syscall": outside, "net": outside, "bufio": outside, "plugin": outside,
	"sync": parallel, "context": parallel,
	"math/rand": repeatable, "crypto": repeatable, "hash/maphash": repeatable,
}

// checkImports refuses what is not on the allow-list.
func (s *submission) checkImports(f *file) {
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !slices.Contains(s.api.courses, p) && !slices.Contains(standard, p) {
			s.refuseAt(f, spec.Pos(), s.api.refusedImport(p))
			continue
		}
		if spec.Name != nil && spec.Name.Name == "." {
			s.refuseAt(f, spec.Pos(), Refusal{
				Rule:    RuleImport,
				Message: fmt.Sprintf("Imports should keep their names, but %q is imported with a dot.", p),
				Why:     "Without the package's name in front, neither a reader nor the grader can tell its calls from yours.",
				Fix:     fmt.Sprintf("Import it plainly and write %s. in front of its names.", path.Base(p)),
			})
		}
	}
}

func (a *api) refusedImport(p string) Refusal {
	w := a.importWords(p)
	r := Refusal{Rule: RuleImport,
		Message: fmt.Sprintf("An exercise should import only what is on its short list, but %q is not on it.", p), Why: w.why,
		Fix: w.fix}
	if below, ok := a.own(p); ok && strings.HasPrefix(below, "solutions") {
		r.Message = fmt.Sprintf("The exercise should be your own work, but %q is the reference solution.", p)
	}
	return r
}

func (a *api) importWords(p string) words {
	if below, ok := a.own(p); ok {
		switch room, _, _ := strings.Cut(below, "/"); room {
		case "solutions":
			return words{
				"With the solution behind it, a check would say nothing about what you can do.",
				"Read it if you are stuck, then write your own.",
			}
		case "exercises":
			return words{
				"An exercise is one package: no other exercise is there when it is graded.",
				"Move what you need into this package.",
			}
		default:
			return words{
				"Exercises reach the device through package cuda alone, so that every call is seen and judged alike.",
				fmt.Sprintf("Use %s for CUDA's calls and %s to launch kernels.", cudaPath, a.module+kernelsRoom),
			}
		}
	}
	for prefix := p; prefix != "." && prefix != "/"; prefix = path.Dir(prefix) {
		if w, ok := special[prefix]; ok {
			return w
		}
	}
	if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
		return words{
			"You learn it by writing it yourself; and a class is graded without a network, so other modules are not there.",
			"Use the standard packages that are allowed: " + strings.Join(standard, ", ") + ".",
		}
	}
	return words{
		"Exercises import from a short list, so that nothing in them can reach around what is graded.",
		"Besides contract, cuda and kernels there are: " + strings.Join(standard, ", ") + ".",
	}
}
