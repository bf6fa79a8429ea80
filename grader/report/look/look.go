// Package look is what cudalab's HTML pages have in common: the style sheet with the colours of light and dark mode,
// and how figures are written.
package look

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// Colors is the part of CSS that names the colours, in light and dark mode, and the fonts.
//
//go:embed colors.css
var Colors string

//go:embed look.css
var rest string

// CSS is the style sheet that every page begins with.
var CSS = Colors + rest

// Px is a length in a drawing.
type Px float64

func (p Px) String() string { return strconv.FormatFloat(float64(p), 'f', -1, 64) }

// Round keeps a drawing's text short.
func Round(v float64) Px { return Px(float64(int64(v*10+0.5)) / 10) }

// Duration is a time with a unit that suits it: "3.4 µs".
func Duration(nanos int64) string {
	v, unit := float64(nanos), "ns"
	switch {
	case nanos >= 1e9:
		v, unit = v/1e9, "s"
	case nanos >= 1e6:
		v, unit = v/1e6, "ms"
	case nanos >= 1e3:
		v, unit = v/1e3, "µs"
	}
	return Figure(v) + " " + unit
}

// Decimal has three significant digits, or as many as stand before the point.
func Decimal(v float64) string {
	digits := 2
	switch {
	case v >= 100:
		digits = 0
	case v >= 10:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// Figure is Decimal without a fraction of zeros.
func Figure(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	return Decimal(v)
}

// Points is a score without a needless fraction.
func Points(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// Plural is a count with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
