package trace_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/codec"
	"cudalab/native/trace"
)

// full is a record with every field set, so that a field that the codec forgets is seen.
func full(t testing.TB) trace.Record {
	t.Helper()
	r := trace.Record{Op: trace.OpLaunch, Phase: trace.Leave, Host: trace.Pinned, Code: -7, Site: 1, Pair: 3, Stream: 4,
		Event: 5, Event2: 6, Pool: 12, Attr: -13, Value: 1<<64 - 1, Alloc: 7, Freed: true, Addr: 1 << 63, Size: -8, Flags: 9,
		Stale: true, Faked: true,
		Time: 10, Took: 11, Start: 11, End: 12, Kernel: "process", Label: "größer",
		Accesses: []trace.Access{{Alloc: 1, Freed: true, Offset: -2, Size: 3, Kind: trace.Atomic, Arg: 4, Addr: 5}},
		Given: &trace.Given{Grid: [3]uint32{1, 2, 3}, Block: [3]uint32{4, 5, 6}, Args: []uint64{1 << 63, 0},
			Data: []byte("data")}}
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

// An empty trace, site, record and access are the shortest that there are: a count of more than the data has room for
// is refused before memory is asked for.
func TestDecodeRefusesCountsWithoutRoom(t *testing.T) {
	for _, made := range []trace.Trace{
		{Sites: make([]trace.Site, 200)},
		{Sites: []trace.Site{make(trace.Site, 200)}},
		{Records: make([]trace.Record, 200)},
		{Records: []trace.Record{{Accesses: make([]trace.Access, 200)}}},
	} {
		var w codec.Writer
		made.Encode(&w)
		got, err := trace.Decode(codec.NewReader(w.Bytes()))
		require.NoError(t, err)
		require.Len(t, got.Records, len(made.Records))
		short := w.Bytes()[:len(w.Bytes())-1]
		require.Less(t, testing.AllocsPerRun(1, func() { _, err = trace.Decode(codec.NewReader(short)) }), 10.0)
		require.ErrorIs(t, err, codec.ErrDamaged)
	}
}

// FuzzDecode reads any bytes as a trace. What can be read is written as it was read.
func FuzzDecode(f *testing.F) {
	var w codec.Writer
	(&trace.Trace{Sites: []trace.Site{{}}, Records: []trace.Record{{Op: trace.OpMalloc}}}).Encode(&w)
	f.Add(w.Bytes())
	w.Reset()
	(&trace.Trace{Sites: []trace.Site{{}, {{Func: "f", File: "f.go", Line: 12}}}, Records: []trace.Record{full(f),
		{}}}).Encode(&w)
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := trace.Decode(codec.NewReader(b))
		if err != nil {
			require.Nil(t, read)
			require.Regexp(t, `^trace: (damaged data|format version \d+, want \d+)$`, err.Error())
			return
		}
		var w codec.Writer
		read.Encode(&w)
		require.LessOrEqual(t, len(w.Bytes()), len(b))
		again, err := trace.Decode(codec.NewReader(w.Bytes()))
		require.NoError(t, err)
		require.Equal(t, read, again)
	})
}
