package trace_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/codec"
	"cudalab/native/trace"
)

// full is a record with every field set, so that a field that the codec forgets is seen.
func full(t *testing.T) trace.Record {
	t.Helper()
	r := trace.Record{Op: trace.OpLaunch, Phase: trace.Leave, Host: trace.Pinned, Code: -7, Site: 1, Pair: 3, Stream: 4,
		Event: 5, Event2: 6, Pool: 12, Attr: -13, Value: 1<<64 - 1, Alloc: 7, Freed: true, Addr: 1 << 63, Size: -8, Flags: 9, Stale: true, Faked: true,
		Time: 10, Took: 11, Start: 11, End: 12, Kernel: "process", Label: "größer",
		Accesses: []trace.Access{{Alloc: 1, Freed: true, Offset: -2, Size: 3, Kind: trace.Atomic, Arg: 4}}}
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		require.Falsef(t, v.Field(i).IsZero(), "the test's record leaves %s zero", v.Type().Field(i).Name)
	}
	return r
}

func TestEncodeDecode(t *testing.T) {
	want := &trace.Trace{
		Sites:   []trace.Site{{}, {{Func: "f", File: "f.go", Line: 12}}},
		Records: []trace.Record{full(t), {}},
	}
	var w codec.Writer
	want.Encode(&w)
	r := codec.NewReader(w.Bytes())
	got, err := trace.Decode(r)
	require.NoError(t, err)
	require.True(t, r.Empty())
	require.Equal(t, want, got)
}

func TestDecodeRefusesEveryCut(t *testing.T) {
	var w codec.Writer
	(&trace.Trace{Sites: []trace.Site{{}}, Records: []trace.Record{full(t)}}).Encode(&w)
	for n := range w.Bytes() {
		_, err := trace.Decode(codec.NewReader(w.Bytes()[:n]))
		require.ErrorIsf(t, err, codec.ErrDamaged, "cut after %d bytes", n)
	}
}

func TestDecodeRefusesAnotherVersion(t *testing.T) {
	_, err := trace.Decode(codec.NewReader([]byte{99, 0, 0}))
	require.ErrorContains(t, err, "format version 99")
}

func FuzzDecode(f *testing.F) {
	var w codec.Writer
	(&trace.Trace{Sites: []trace.Site{{}}, Records: []trace.Record{{Op: trace.OpMalloc}}}).Encode(&w)
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if tr, err := trace.Decode(codec.NewReader(b)); err == nil {
			require.NotNil(t, tr)
		}
	})
}
