package classpage

import (
	"fmt"
	"slices"

	"cudalab/grader/class"
	"cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
)

// histogram is the distribution of scores in tenths of what can be reached, and of those who reached it all.
type histogram struct {
	Title   string
	Count   int    // of submissions; where there are none nothing is drawn
	Summary string // for those who cannot see it
	Bins    []bin
}

type bin struct {
	Label            string
	Count            int
	X, Y, W, H, Text look.Px
}

// Measures of a histogram; the drawing is in the template.
const (
	binWidth   = 28
	binGap     = 4
	binsBottom = 116
	binsHeight = 92
	tenths     = 10
)

// histograms are that of the total and that of each exercise, of those who handed something in.
func histograms(c *class.Class) []histogram {
	var totals []float64
	for _, s := range c.Students {
		if s.Status == class.Graded {
			points, of, _ := s.Final()
			totals = append(totals, min(1, share(points, of)))
		}
	}
	all := []histogram{newHistogram("All exercises together", totals)}
	for i, e := range c.Exercises {
		var scores []float64
		for _, s := range c.Students {
			if s.Status == class.Graded && s.Exercises[i].Status != verdict.NotStarted {
				scores = append(scores, share(s.Exercises[i].Score, e.MaxScore))
			}
		}
		all = append(all, newHistogram(e.Name, scores))
	}
	return all
}

func share(score, most float64) float64 {
	if most == 0 {
		return 0
	}
	return score / most
}

// newHistogram counts shares from 0 to 1.
func newHistogram(title string, shares []float64) histogram {
	h := histogram{Title: title, Count: len(shares), Bins: make([]bin, tenths+1)}
	for _, v := range shares {
		h.Bins[min(max(int(v*tenths+1e-9), 0), tenths)].Count++
	}
	most := 1
	for _, b := range h.Bins {
		most = max(most, b.Count)
	}
	for i := range h.Bins {
		b := &h.Bins[i]
		b.Label = fmt.Sprintf("%d–%d", 10*i, 10*i+10)
		if i == tenths {
			b.Label = "100"
		}
		b.X, b.W = look.Px(i*(binWidth+binGap)), binWidth
		b.H = look.Round(binsHeight * float64(b.Count) / float64(most))
		b.Y, b.Text = binsBottom-b.H, b.X+binWidth/2
	}
	h.Summary = fmt.Sprintf("%s; median %s %%, %d reached 100 %%.", look.Plural(len(shares), "submission"),
		look.Figure(100*median(shares)), h.Bins[tenths].Count)
	return h
}

// median is 0 of nothing.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
