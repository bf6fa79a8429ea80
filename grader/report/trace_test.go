package report_test

import (
	"bytes"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report"
	"cudalab/native/device"
	"cudalab/native/trace"
)

func TestTrace(t *testing.T) {
	records := &trace.Trace{
		Sites: []trace.Site{nil, {
			{Func: "cudalab/exercises/asyncpipeline.enqueue", File: "cudalab/exercises/asyncpipeline/asyncpipeline.go", Line: 44},
			{Func: "cudalab/exercises/asyncpipeline.Run", File: "cudalab/exercises/asyncpipeline/asyncpipeline.go", Line: 22},
			{Func: "cudalab/grader/runner.(*runner).serve", File: "cudalab/grader/runner/runner.go", Line: 107},
			{Func: "runtime.main", File: "runtime/proc.go", Line: 290},
		}},
		Records: []trace.Record{
			{Op: trace.OpMark, Label: "call"},
			{Op: trace.OpMallocAsync, Stream: 1, Alloc: 3, Addr: 0x7f00, Size: 4096, Site: 1, Time: 1500, Took: 600},
			{Op: trace.OpLaunch, Kernel: "process", Site: 1, Time: 2100,
				Accesses: []trace.Access{{Alloc: 3, Offset: 4, Size: 400, Kind: trace.Write}}},
			{Op: trace.OpStreamSynchronize, Phase: trace.Enter, Stream: 1, Site: 1, Time: 3000},
			{Op: trace.OpStreamSynchronize, Phase: trace.Leave, Stream: 1, Site: 1, Time: 3900, Took: 900, Pair: 3,
				Code: int32(device.ErrorIllegalAddress)},
			{Op: trace.OpFree, Site: 1, Faked: true, Code: int32(device.ErrorOutOfMemory)},
		},
	}
	var out bytes.Buffer
	require.NoError(t, report.Trace(&out, "async-pipeline", "shapes", records, path.Base))
	require.Equal(t, `{"exercise":"async-pipeline","case":"shapes","record":0,"call":"mark","label":"call","time_ns":0}
{"exercise":"async-pipeline","case":"shapes","record":1,"call":"cuda.MallocAsync","stream":1,"alloc":3,"address":"0x7f00","size":4096,"answer":"CUDA_SUCCESS (0)","time_ns":1500,"took_ns":600,"at":"asyncpipeline.go:44","stack":["asyncpipeline.go:22"]}
{"exercise":"async-pipeline","case":"shapes","record":2,"call":"launch process","stream":0,"answer":"CUDA_SUCCESS (0)","accesses":[{"kind":"write","alloc":3,"offset":4,"size":400}],"time_ns":2100,"at":"asyncpipeline.go:44","stack":["asyncpipeline.go:22"]}
{"exercise":"async-pipeline","case":"shapes","record":3,"call":"cuda.StreamSynchronize","phase":"enter","stream":1,"time_ns":3000,"at":"asyncpipeline.go:44","stack":["asyncpipeline.go:22"]}
{"exercise":"async-pipeline","case":"shapes","record":4,"call":"cuda.StreamSynchronize","phase":"leave","stream":1,"answer":"CUDA_ERROR_ILLEGAL_ADDRESS (700)","time_ns":3900,"took_ns":900,"at":"asyncpipeline.go:44","stack":["asyncpipeline.go:22"]}
{"exercise":"async-pipeline","case":"shapes","record":5,"call":"cuda.Free","answer":"CUDA_ERROR_OUT_OF_MEMORY (2)","injected":true,"time_ns":0,"at":"asyncpipeline.go:44","stack":["asyncpipeline.go:22"]}
`, out.String())
}
