package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const passing = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestOne"}
{"Action":"output","Package":"a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"output","Package":"a","Test":"TestOne","Output":"    a_test.go:1: something\n"}
{"Action":"pass","Package":"a","Test":"TestOne","Elapsed":2.5}
{"Action":"output","Package":"a","Output":"PASS\n"}
{"Action":"output","Package":"a","Output":"ok  \ta\t2.600s\n"}
{"Action":"pass","Package":"a","Elapsed":2.6}
`

const failing = `{"Action":"start","Package":"b"}
{"Action":"output","Package":"b","Test":"TestTwo","Output":"=== RUN   TestTwo\n"}
{"Action":"output","Package":"b","Test":"TestTwo/x","Output":"    b_test.go:1: wrong\n"}
{"Action":"fail","Package":"b","Test":"TestTwo/x","Elapsed":0.1}
{"Action":"fail","Package":"b","Test":"TestTwo","Elapsed":7}
{"Action":"output","Package":"b","Output":"FAIL\n"}
{"Action":"output","Package":"b","Output":"FAIL\tb\t7.000s\n"}
{"Action":"fail","Package":"b","Elapsed":7}
`

const cached = `{"Action":"pass","Package":"c","Test":"TestThree","Elapsed":99}
{"Action":"output","Package":"c","Output":"ok  \tc\t(cached)\n"}
{"Action":"pass","Package":"c","Elapsed":0.01}
`

func TestReport(t *testing.T) {
	var out strings.Builder
	passed, err := report(strings.NewReader(passing+cached), &out)
	require.NoError(t, err)
	require.True(t, passed)
	require.Equal(t, "ok  \ta\t2.600s\nok  \tc\t(cached)\n"+
		"\nThe packages that took longest, in seconds:\n     2.6  a\n\nThe tests that took longest, in seconds:\n     2.5  "+
		"a TestOne\n", out.String())
}

func TestReportOfWhatFails(t *testing.T) {
	for name, c := range map[string]struct{ in, says string }{
		"a test":           {passing + failing, "    b_test.go:1: wrong\nFAIL\nFAIL\tb\t7.000s\n"},
		"how to repeat it": {strings.ReplaceAll(failing, `"b"`, `"cudalab/b"`), "    go test ./b -run '^TestTwo$/^x$'\n\n"},
		"a package's build": {`{"ImportPath":"d","Action":"build-output","Output":"d.go:1: no\n"}` + "\n" +
			`{"Action":"fail","Package":"d"}`, "d.go:1: no\n"},
		"go test is killed": {passing + `{"Action":"start","Package":"e"}`, "FAIL\te did not end\n"},
		"go test itself":    {"no Go files\n", "no Go files\n"},
		"nothing":           {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			passed, err := report(strings.NewReader(c.in), &out)
			require.NoError(t, err)
			require.False(t, passed)
			require.Contains(t, out.String(), c.says)
		})
	}
}
