package lsp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFrames(t *testing.T) {
	const two = "Content-Length: 2\r\n\r\n{}"
	for name, c := range map[string]struct {
		in   string
		want []string
		says string // of the *FramingError at the end; "" where the input ends well
	}{
		"nothing":      {"", nil, ""},
		"two messages": {two + two, []string{"{}", "{}"}, ""},
		"any order and case": {"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-LENGTH:2\r\n\r\n{}",
			[]string{"{}"}, ""},
		"utf8 as it once was":      {"Content-Length: 2\r\nContent-Type: a; charset=utf8\r\n\r\n{}", []string{"{}"}, ""},
		"a field that is not ours": {"X-Trace: 1\r\n" + two, []string{"{}"}, ""},
		"an empty message":         {"Content-Length: 0\r\n\r\n" + two, []string{"", "{}"}, ""},
		"garbage":                  {two + "hello there\r\n\r\n", []string{"{}"}, `"hello there" is no field`},
		"a name with a blank":      {"Content Length: 2\r\n\r\n{}", nil, "is no field"},
		"no carriage return":       {"Content-Length: 2\n\n{}", nil, `does not end in \r\n`},
		"no length":                {"Content-Type: x\r\n\r\n{}", nil, "no Content-Length"},
		"an empty header":          {"\r\n{}", nil, "no Content-Length"},
		"two lengths":              {"Content-Length: 2\r\n" + two, nil, "two Content-Lengths"},
		"no number":                {"Content-Length: two\r\n\r\n{}", nil, `"two" is no number`},
		"less than nothing":        {"Content-Length: -2\r\n\r\n{}", nil, `"-2" is no number`},
		"too much":                 {"Content-Length: 67108865\r\n\r\n{}", nil, "67108865 is more than 67108864 bytes"},
		"more than a number holds": {"Content-Length: 99999999999999999999999\r\n\r\n{}", nil, "is more than"},
		"a length that is too long for what comes": {"Content-Length: 9\r\n\r\n{}", nil, "ends after 2 of 9 bytes"},
		"a length that is too short": {"Content-Length: 1\r\n\r\n{}\r\n" + two, []string{"{"},
			`"}" is no field`},
		"an end within the header": {"Content-Len", nil, "ends within its header"},
		"an end behind the header": {"Content-Length: 2\r\n", nil, "ends within its header"},
		"a line without an end":    {strings.Repeat("x", 2*maxHeader), nil, "longer than 4096 bytes"},
		"fields without an end":    {strings.Repeat("a: b\r\n", 1000), nil, "more than 16 lines"},
		"another charset":          {"Content-Type: a; charset=utf-16\r\n" + two, nil, `"utf-16", not utf-8`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFrames(strings.NewReader(c.in))
			for _, want := range c.want {
				got, err := f.next()
				require.NoError(t, err)
				require.Equal(t, want, string(got))
			}
			_, err := f.next()
			if c.says == "" {
				require.Equal(t, io.EOF, err)
				return
			}
			var framing *FramingError
			require.ErrorAs(t, err, &framing)
			require.Contains(t, framing.Problem, c.says)
		})
	}
}

// A length that is announced and does not come takes no memory.
func TestAHugeLengthTakesNoMemory(t *testing.T) {
	in := "Content-Length: 67108864\r\n\r\n{}"
	got := testing.AllocsPerRun(1, func() {
		_, err := newFrames(strings.NewReader(in)).next()
		require.Error(t, err)
	})
	require.Less(t, got, 200.0)
	bytes := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			newFrames(strings.NewReader(in)).next()
		}
	}).AllocedBytesPerOp()
	require.Less(t, bytes, int64(1<<20))
}

// FuzzFrames reads any bytes: what comes out can be framed and read again, and what does not says why.
func FuzzFrames(f *testing.F) {
	for _, in := range []string{"Content-Length: 2\r\n\r\n{}",
		"Content-Length: 2\r\nContent-Type: a; charset=utf-8\r\n\r\n[]Content-Length: 0\r\n\r\n",
		"Content-Length: 99\r\n\r\n{", "Content-Length: 18446744073709551616\r\n\r\n", "x\r\n\r\n", ": \r\n\r\n", "\n",
		"\r\n"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := newFrames(bytes.NewReader(in))
		var again bytes.Buffer
		var all []string
		for {
			content, err := r.next()
			if err != nil {
				var framing *FramingError
				require.True(t, errors.Is(err, io.EOF) || errors.As(err, &framing), "%v", err)
				break
			}
			require.LessOrEqual(t, len(content), len(in))
			all = append(all, string(content))
			require.NoError(t, writeFrame(&again, content))
		}
		r = newFrames(&again)
		for _, want := range all {
			content, err := r.next()
			require.NoError(t, err)
			require.Equal(t, want, string(content))
		}
		_, err := r.next()
		require.Equal(t, io.EOF, err)
	})
}
