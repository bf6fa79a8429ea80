// Package sample draws what `make test` takes of tests that are too long for it; `make test-rest` takes what it leaves,
// and `make test-share` a share of that.
package sample

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that says which part of a sampled test is run, and by which seed it is drawn:
// "drawn SEED", "others SEED" or "share SEED". Without it the whole test is run.
const Variable = "CUDALAB_SAMPLE"

// The parts of a sampled test.
const (
	Drawn  = "drawn"
	Others = "others"
	Share  = "share" // of the others
)

// Shares is how many shares there are.
const Shares = 4

// Part is the part that is run; "" for all of it.
func Part() string {
	part, _ := setting()
	return part
}

// Of answers which of n things are run under a name, of which the sample has k. All are, where nothing is sampled.
func Of(name string, n, k int) (runs func(i int) bool) {
	part, seed := setting()
	if part == "" {
		return func(int) bool { return true }
	}
	drawn := Few(name, n, k)
	var share []int
	if part == Share {
		share = ShareOf(seed, name, n)
	}
	return func(i int) bool {
		return slices.Contains(drawn, i) == (part == Drawn) && (part != Share || slices.Contains(share, i))
	}
}

// Few draws k of n things under a name, for a test of which nobody waits for the whole: either half runs the same.
func Few(name string, n, k int) []int {
	_, seed := setting()
	return draw(seed, name, n, k)
}

// ShareOf draws a share of n things under a name, by a seed.
func ShareOf(seed, name string, n int) []int {
	return draw(seed, "share of "+name, n, (n+Shares-1)/Shares)
}

func draw(seed, name string, n, k int) []int {
	h := fnv.New64a()
	h.Write([]byte(seed + " " + name))
	return rand.New(rand.NewPCG(h.Sum64(), 0)).Perm(n)[:min(n, k)]
}

func setting() (part, seed string) {
	text := os.Getenv(Variable)
	part, seed, _ = strings.Cut(text, " ")
	if text != "" && (seed == "" || !slices.Contains([]string{Drawn, Others, Share}, part)) {
		panic(fmt.Sprintf("%s=%q: it should be %q, %q or %q and a seed", Variable, text, Drawn, Others, Share))
	}
	return part, seed
}
