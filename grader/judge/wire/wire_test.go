package wire_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/wire"
	"cudalab/grader/suite/returned"
	"cudalab/grader/suite/verdict"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

var messages = []wire.Message{
	wire.Hello{Version: 1, Device: verdict.Device{Kind: "gpu", Name: "NVIDIA H200", Driver: "13.0"}, Problem: "none"},
	verdict.Outcome{Label: "l", Err: "e", Gap: "1a", Besides: true, Argument: true, Odd: verdict.Odd{Rule: "lying-error",
		What: "As"}, Panic: "p", Runaway: true,
		Excess: session.Excess{Asked: 3, Held: 2, Quota: 4, Record: 1}, Returned: returned.Lines{4},
		Stack: trace.Site{{Func: "f", File: "x.go", Line: 3}}},
	wire.Value{Name: "sum", Values: []uint64{1 << 63, 0, 5}},
	wire.Sample{Series: "student", Nanoseconds: -1},
	&trace.Trace{Sites: []trace.Site{{}}, Records: []trace.Record{{Op: trace.OpLaunch, Kernel: "process"}}},
	wire.Done{},
	wire.Fault{Message: "m", DeviceLost: true, Taken: "StreamDestroy", Site: trace.Site{{Func: "f", File: "x.go",
		Line: 3}}},
	wire.Request{Exercise: "slab", Case: "speed", Attempt: 1, From: 3, Seed: 99, Times: true, Given: true},
	wire.Mark{Text: "here"},
	wire.Setup{},
	wire.Setup{Profile: &sim.H200},
}

func TestEveryMessageArrivesAsSent(t *testing.T) {
	var pipe bytes.Buffer
	w, r := wire.NewWriter(&pipe), wire.NewReader(&pipe)
	for _, m := range messages {
		require.NoError(t, w.Send(m))
	}
	for _, want := range messages {
		got, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := r.Next()
	require.Equal(t, io.EOF, err)
}

func TestACutFrameIsAnError(t *testing.T) {
	for _, m := range messages {
		var pipe bytes.Buffer
		require.NoError(t, wire.NewWriter(&pipe).Send(m))
		whole := pipe.Bytes()
		for n := 1; n < len(whole); n++ {
			_, err := wire.NewReader(bytes.NewReader(whole[:n])).Next()
			require.ErrorIsf(t, err, io.ErrUnexpectedEOF, "%T cut after %d of %d bytes", m, n, len(whole))
		}
	}
}

func TestNonsenseIsAnError(t *testing.T) {
	for name, sent := range map[string]string{
		"text":             "PASS\nok\n",
		"unknown kind":     "?\x00",
		"too long":         "V\xff\xff\xff\xff\xff\x01",
		"damaged fields":   "V\x01\x05",
		"more than fields": "D\x02\x00\x00",
	} {
		_, err := wire.NewReader(bytes.NewBufferString(sent)).Next()
		require.Errorf(t, err, name)
		require.NotErrorIsf(t, err, io.EOF, name)
	}
}

func TestSendRefusesWhatHasNoFrame(t *testing.T) {
	require.ErrorContains(t, wire.NewWriter(io.Discard).Send(42), "no frame for int")
}

// A frame that claims to be long takes no memory before its bytes have come.
func TestALongFrameIsReadAsItComes(t *testing.T) {
	claim := binary.AppendUvarint([]byte{byte(wire.KindTrace)}, wire.MaxFrame)
	before, after := runtime.MemStats{}, runtime.MemStats{}
	runtime.ReadMemStats(&before)
	_, err := wire.NewReader(bytes.NewReader(claim)).Next()
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(wire.MaxFrame/16))

	var pipe bytes.Buffer
	long := wire.Mark{Text: strings.Repeat("x", 3<<20)}
	require.NoError(t, wire.NewWriter(&pipe).Send(long))
	got, err := wire.NewReader(iotest.HalfReader(&pipe)).Next()
	require.NoError(t, err)
	require.Equal(t, long, got)
}

// FuzzNext reads any bytes as frames. A message that can be read is sent as it was read, and what follows it is found.
func FuzzNext(f *testing.F) {
	var pipe bytes.Buffer
	for _, m := range messages {
		var one bytes.Buffer
		require.NoError(f, wire.NewWriter(io.MultiWriter(&pipe, &one)).Send(m))
		f.Add(one.Bytes())
	}
	f.Add(pipe.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(bytes.NewReader(b))
		for range len(b) {
			m, err := r.Next()
			if err != nil {
				require.Nil(t, m)
				require.NotEmpty(t, err.Error())
				return
			}
			var pipe bytes.Buffer
			require.NoError(t, wire.NewWriter(&pipe).Send(m))
			again, err := wire.NewReader(&pipe).Next()
			require.NoError(t, err)
			require.Equal(t, m, again)
			require.Zero(t, pipe.Len())
		}
		m, err := r.Next()
		require.Nil(t, m)
		require.Equal(t, io.EOF, err, "a message has a byte at least")
	})
}
