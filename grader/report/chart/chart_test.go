package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report/chart"
	"cudalab/grader/suite/verdict"
)

// svg is what a drawing has, as a reader of XML sees it.
type svg struct {
	texts []string
	bars  map[string]float64 // the width of each bar, by the text that follows it
}

func draw(t *testing.T, r verdict.BenchReport) svg {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, chart.Write(&out, r))
	require.NotRegexp(t, `NaN|Inf|<no value>|href|@import|url\(`, out.String())
	drawn := svg{bars: map[string]float64{}}
	d := xml.NewDecoder(&out)
	width := -1.0
	var in []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return drawn
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			in = append(in, token.Name.Local)
			for _, a := range token.Attr {
				if token.Name.Local == "rect" && a.Name.Local == "width" && a.Value != "100%" {
					width, err = strconv.ParseFloat(a.Value, 64)
					require.NoError(t, err)
					require.GreaterOrEqual(t, width, 0.0)
				}
			}
		case xml.EndElement:
			in = in[:len(in)-1]
		case xml.CharData:
			text := string(token)
			if len(in) == 0 || strings.TrimSpace(text) == "" {
				continue
			}
			switch in[len(in)-1] {
			case "text":
				drawn.texts = append(drawn.texts, text)
				if width >= 0 {
					drawn.bars[text] = width
				}
				width = -1
			case "title", "desc":
				drawn.texts = append(drawn.texts, text)
			}
		}
	}
}

func workload(unit string, standings ...verdict.Standing) verdict.Comparison {
	return verdict.Comparison{ID: "w", Name: "same <size> & more", Operation: "call", Unit: unit, Standings: standings}
}

func TestTheDrawingSaysAllInWords(t *testing.T) {
	r := verdict.BenchReport{Exercise: "slab", Device: verdict.Device{Kind: "sim", Name: "simulated NVIDIA H200"},
		Message: "Your code is left out.",
		Workloads: []verdict.Comparison{
			workload(verdict.Nanoseconds,
				verdict.Standing{Contender: verdict.Yours, Value: 20, Low: 19, High: 30, Clock: verdict.CPU,
					Ratio: &verdict.Quotient{Value: 2}},
				verdict.Standing{Contender: verdict.Solution, Value: 10, Low: 10, High: 10, Clock: verdict.CPU},
				verdict.Standing{Contender: "cuda.Malloc", Value: 62_000, Low: 61_000, High: 63_000, Clock: verdict.Virtual}),
			workload(verdict.ByteCount, verdict.Standing{Contender: verdict.Yours, Value: 5}),
		}}
	drawn := draw(t, r)
	all := strings.Join(drawn.texts, "\n")
	for _, text := range []string{"slab, side by side", "simulated NVIDIA H200", "same <size> & more, per call", "yours *",
		"solution *",
		"cuda.Malloc", "20.0 ns (2.00 x)", "10.0 ns", "62.0 µs", "5.00 B", "100 µs", "virtual clock",
		"Your code is left out."} {
		require.Contains(t, all, text)
	}
	require.Less(t, drawn.bars["10.0 ns"], drawn.bars["20.0 ns (2.00 x)"])
	require.Less(t, drawn.bars["20.0 ns (2.00 x)"], drawn.bars["62.0 µs"])
}

func TestOddFiguresCanBeDrawn(t *testing.T) {
	for name, r := range map[string]verdict.BenchReport{
		"nothing": {Exercise: "slab"},
		"zero": {Workloads: []verdict.Comparison{workload(verdict.ByteCount,
			verdict.Standing{Contender: verdict.Solution})}},
		"one decade": {Workloads: []verdict.Comparison{workload(verdict.Nanoseconds, verdict.Standing{Value: 100, Low: 100,
			High: 100})}},
		"hostile": {Workloads: []verdict.Comparison{workload(verdict.Nanoseconds,
			verdict.Standing{Contender: `</text><script>`, Value: 1, Low: 1, High: 2})}},
	} {
		t.Run(name, func(t *testing.T) { require.NotEmpty(t, draw(t, r).texts) })
	}
}
