package cudac_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report/cudac"
	"cudalab/grader/suite/verdict"
	_ "cudalab/kernels" // lists them
	"cudalab/kernels/listed"
)

func TestText(t *testing.T) {
	for go_, c := range map[string]string{
		"Record an event in a behind it (cuda.EventRecord), and have b wait for it (cuda.StreamWaitEvent).": "Record an event in a behind it " +
			"(cudaEventRecord), and have b wait for it (cudaStreamWaitEvent).",
		"Give it back with cuda.FreeAsync(ptr, stream).": "Give it back with cudaFreeAsync(ptr, " +
			"stream).",
		"Ask for it: cuda.MallocFromPoolAsync(size, pool, s).": "Ask for it: cudaMallocFromPoolAsync(&p, " +
			"size, pool, s).",
		"cuda.MemcpyDtoDAsync(v.end(), src, n*v.elem, s)": "cudaMemcpyAsync(v.end(), src, n*v.elem, " +
			"cudaMemcpyDeviceToDevice, s)",
		"cuda.MemsetAsync(out, 0, 8, cuda.Stream{})": "cudaMemsetAsync(out, 0, 8, 0)",
		"cuda.StreamCreateWithFlags(cuda.StreamNonBlocking) makes one": "cudaStreamCreateWithFlags(&stream, " +
			"cudaStreamNonBlocking) makes one",
		"cuda.MemSetAccess(p, size, desc), with cuda.MemAccessFlagsProtNone": "cuMemSetAccess(p, size, &desc, 1), with " +
			"CU_MEM_ACCESS_FLAGS_PROT_NONE",
		"Launch kernels.Touch(64, 256, stream, block, size, seed).": "Launch touch<<<64, 256, 0, " +
			"stream>>>(block, size, seed).",
		"kernels.FillItem comes before it": "fillItem comes before it",
		"StreamSynchronize changes nothing; Free and Alloc are the student's.": "cudaStreamSynchronize changes nothing; " +
			"Free and Alloc are the student's.",
		"p.MemMap and my.EventRecord are not CUDA's":      "p.MemMap and my.EventRecord are not CUDA's",
		"the answer, a *cuda.Error, of cuda.EventQuery(e": "the answer, a cudaError_t, of cudaEventQuery(e",
		"cuda.StreamWaitEvent(s)":                         "cudaStreamWaitEvent(s)",
		"cuda.EventRecord(cuda.EventCreate(), f(a, [2]int{1, 2}))": "cudaEventRecord(cudaEventCreate(&event), f(a, " +
			"[2]int{1, 2}))",
		"": "",
	} {
		require.Equal(t, c, cudac.Text(go_))
		require.Equal(t, c, cudac.Text(c), "what is in CUDA's terms stays so")
	}
}

// TestAllOfPackageCuda holds the names to package cuda: all that it exports has one of CUDA's, and takes as many
// arguments.
func TestAllOfPackageCuda(t *testing.T) {
	constants := map[string]string{}
	files, err := filepath.Glob("../../../native/cuda/*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					holdCall(t, d)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							said := cudac.Text("cuda." + s.Name.Name)
							require.NotContains(t, said, "."+s.Name.Name)
							if said == "cuda"+s.Name.Name {
								require.Contains(t, []string{"DeviceProp", "MemPoolProps", "MemPoolAttr"}, s.Name.Name,
									"other types are spelled otherwise")
							}
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							if n.IsExported() {
								constants[n.Name] = cudac.Text("cuda." + n.Name)
							}
						}
					}
				}
			}
		}
	}
	require.NotEmpty(t, constants)
	for is, c := range constants {
		if strings.HasPrefix(c, "CU_") {
			require.Contains(t, []string{"CU_MEM_ACCESS_FLAGS_PROT_NONE", "CU_MEM_ACCESS_FLAGS_PROT_READ",
				"CU_MEM_ACCESS_FLAGS_PROT_READWRITE",
				"CU_MEM_ALLOCATION_TYPE_PINNED", "CU_MEM_ALLOC_GRANULARITY_MINIMUM", "CU_MEM_ALLOC_GRANULARITY_RECOMMENDED",
				"CU_MEM_LOCATION_TYPE_DEVICE"}, c, "as in cuda.h")
		} else {
			require.Equal(t, "cuda"+is, c)
		}
	}
}

// holdCall holds a function of package cuda to its form in CUDA, whose arguments are all of Go's.
func holdCall(t *testing.T, f *ast.FuncDecl) {
	var args []string
	for _, p := range f.Type.Params.List {
		for range max(1, len(p.Names)) {
			args = append(args, "arg"+string(rune('A'+len(args))))
		}
	}
	said := cudac.Text("cuda." + f.Name.Name + "(" + strings.Join(args, ", ") + ")")
	require.Regexp(t, `^cud?a?[A-Z]`, said)
	require.NotContains(t, said, "cuda.")
	for _, arg := range args {
		if f.Name.Name == "MemPoolSetAttribute" && arg == "argC" || f.Name.Name == "LaunchKernel" && arg == "argE" {
			continue // C++ takes the address of a variable with it
		}
		require.Contains(t, said, arg, f.Name.Name)
	}
}

// TestKernels: a kernel's name in CUDA is Go's with a small first letter.
func TestKernels(t *testing.T) {
	launches := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(grid, block int, s cuda\.Stream`)
	files, err := filepath.Glob("../../../kernels/*.go")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, k := range listed.All() {
		names[k.Entry()] = true
	}
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range launches.FindAllStringSubmatch(string(text), -1) {
			said := cudac.Text("kernels." + m[1])
			require.Contains(t, names, said)
			seen++
		}
	}
	require.Greater(t, seen, 15)
}

// TestWordsOfTheLessons: no sentence that the lessons' programs get speaks of package cuda once it is in CUDA's terms.
func TestWordsOfTheLessons(t *testing.T) {
	files, err := filepath.Glob("../../suites/*/testdata/words.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(strings.TrimSpace(line), "| ") {
				continue // the student's
			}
			said := cudac.Text(line)
			require.NotRegexp(t, `\b(cuda|kernels)\.[A-Z]`, said)
			require.Equal(t, said, cudac.Text(said))
		}
	}
}

func TestReport(t *testing.T) {
	was := verdict.Report{Message: "cuda.Free", Checks: []verdict.Check{{Name: "cuda.Free", Findings: []verdict.Finding{{
		Message: "cuda.Free", Why: "cuda.Free", Fix: "cuda.Free", Related: []verdict.Related{{Message: "cuda.Free",
			File: "cuda.Free.go"}}}}}}}
	is := cudac.Report(was)
	require.Equal(t, verdict.Report{Message: "cudaFree", Checks: []verdict.Check{{Name: "cudaFree",
		Findings: []verdict.Finding{{
			Message: "cudaFree", Why: "cudaFree", Fix: "cudaFree", Related: []verdict.Related{{Message: "cudaFree",
				File: "cuda.Free.go"}}}}}}}, is)
	require.Equal(t, "cuda.Free", was.Checks[0].Findings[0].Related[0].Message, "the report itself is as it was")
}
