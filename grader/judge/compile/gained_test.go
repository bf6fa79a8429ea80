package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// onSource is a submission whose Run answers what a source's Take does in a function, which is given as it is written.
func onSource(t *testing.T, function string) alone {
	return built(t, requestOf(sample(folder(t, map[string]string{"z.go": allocator, "sample.go": header + `
type owner struct{ stream cuda.Stream }

type source struct{}

func (source) Take(n int, s cuda.Stream) error { return contract.TODO("taken") }

func Run(streams []cuda.Stream, n int) error {
	var s cuda.Stream
	return take(source{}, &owner{}, s)
}

` + function}))))
}

func TestAnArgumentThatTheContractHasGained(t *testing.T) {
	for name, c := range map[string]struct{ function, added string }{
		"a parameter": {"func take(from contract.Source, o *owner, s cuda.Stream) error {\n\treturn from.Take(1)\n}\n",
			"s"},
		"a field": {"func take(from contract.Source, o *owner, _ cuda.Stream) error {\n\treturn from.Take(1)\n}\n",
			"o.stream"},
		"the receiver's": {"func (o *owner) take(from contract.Source) error {\n\treturn from.Take(\n\t\t1,\n\t)\n}\n\n" +
			"func take(from contract.Source, o *owner, _ cuda.Stream) error { return o.take(from) }\n", "o.stream"},
		"a closure's": {"func take(from contract.Source, o *owner, _ cuda.Stream) error {\n\treturn " +
			"func(t cuda.Stream) error { return from.Take(1) }(o.stream)\n}\n", "t"},
	} {
		t.Run(name, func(t *testing.T) {
			r := onSource(t, c.function)
			require.Equal(t, "taken\n", printed(t, r))
			require.Len(t, r.Added, 1)
			a := r.Added[0]
			require.Equal(t, c.added, a.Text)
			require.Equal(t, "Take takes one argument more by now, s cuda.Stream", a.Takes)
			was, err := os.ReadFile(a.File)
			require.NoError(t, err)
			mended := string(r.Mended[a.File])
			require.Equal(t, string(was), strings.Replace(mended, "1, "+c.added, "1", 1))
			require.Contains(t, strings.Split(mended, "\n")[a.Line-1]+strings.Split(mended, "\n")[a.Line-2], "1, "+c.added)
			require.Equal(t, "sample.go", filepath.Base(a.File))
		})
	}
}

func TestAnArgumentThatIsNotAdded(t *testing.T) {
	for name, function := range map[string]string{
		"several": "func take(from contract.Source, n int, s cuda.Stream) error { return both(from, s, s) }\n\n" +
			"func both(from contract.Source, s, t cuda.Stream) error {\n\treturn from.Take(1)\n}\n",
		"none": "func take(from contract.Source, n int, _ cuda.Stream) error {\n\treturn from.Take(1)\n}\n",
		"assigned": "func take(from contract.Source, n int, s cuda.Stream) error {\n\ts = cuda.Stream{}\n\t" +
			"return from.Take(1)\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := onSource(t, strings.ReplaceAll(function, "n int", "_ *owner"))
			require.Empty(t, r.Added)
			e := r.Errors[0]
			require.Equal(t, "Take takes one argument more by now, s cuda.Stream, but the call is as it was.", e.Message)
			require.Contains(t, e.Plain, "The contract has Take(n int, s cuda.Stream) error: Take takes n in s.")
		})
	}
}
