package similar

import (
	"cmp"
	"slices"
)

// gramLength is how many tokens in a row are fingerprinted, and the shortest passage that is found.
const gramLength = 12

// window is of how many grams in a row one is kept: two programs that share gramLength+window-1 tokens in a row share a
// fingerprint.
const window = 4

// maxCandidates bounds how many pairs are laid side by side: the likeliest.
const maxCandidates = 50_000

// multiplier is the base of the polynomial that grams are hashed by, an odd number.
const multiplier = 0x9E3779B97F4A7C15

// eachGram yields the hash of each run of so many tokens and where it begins. None crosses the end of a file.
func eachGram(symbols []uint64, length int, each func(at int, gram uint64)) {
	top := uint64(1) // multiplier to the power of length-1
	for range length - 1 {
		top *= multiplier
	}
	gram, n := uint64(0), 0
	for i, sym := range symbols {
		if sym == 0 {
			gram, n = 0, 0
			continue
		}
		if n == length {
			gram -= symbols[i-length] * top
			n--
		}
		gram = gram*multiplier + sym
		if n++; n == length {
			each(i-length+1, scramble(gram))
		}
	}
}

// scramble spreads a hash over all bits, so that the least of several is any of them.
func scramble(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xFF51AFD7ED558CCD
	h ^= h >> 33
	return h
}

// placed is a gram and where it begins.
type placed struct {
	gram uint64
	at   int
}

// findGrams finds the grams that are for the greater part the author's own, by their hashes, and of these the
// fingerprints.
func (t *text) findGrams() {
	before := make([]int, len(t.from)+1) // how many of the tokens before are not its own
	for i, from := range t.from {
		before[i+1] = before[i]
		if from != own {
			before[i+1]++
		}
	}
	var grams []placed
	eachGram(t.symbols, gramLength, func(at int, gram uint64) {
		if 2*(before[at+gramLength]-before[at]) <= gramLength {
			grams = append(grams, placed{gram, at})
		}
	})
	t.prints = winnow(grams)
	t.grams = grams
	slices.SortFunc(t.grams, func(p, q placed) int { return cmp.Or(cmp.Compare(p.gram, q.gram), cmp.Compare(p.at, q.at)) })
}

// winnow keeps the least gram of every window of grams, each once.
func winnow(grams []placed) []uint64 {
	var kept []uint64
	for from := 0; from < len(grams); {
		to := from + 1 // of grams that begin one behind the other
		for to < len(grams) && grams[to].at == grams[to-1].at+1 {
			to++
		}
		last := -1
		for i := from; i < max(from+1, to-window+1); i++ {
			least := i
			for j := i; j < min(i+window, to); j++ {
				if grams[j].gram <= grams[least].gram { // of equal ones the last, as the paper has it
					least = j
				}
			}
			if least != last {
				kept = append(kept, grams[least].gram)
				last = least
			}
		}
		from = to
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// candidates are the pairs that share so many fingerprints that they may reach the threshold, the likeliest first.
func (c *comparison) candidates() [][2]int {
	have := map[uint64][]int32{} // the programs that have a fingerprint, in order
	for i, t := range c.texts {
		if t.own < minOwn {
			continue
		}
		for _, p := range t.prints {
			have[p] = append(have[p], int32(i))
		}
	}
	type candidate struct {
		a, b  int
		share float64
	}
	var found []candidate
	shared := make([]int, len(c.texts)) // with the program at hand
	for a, t := range c.texts {
		clear(shared)
		if t.own < minOwn {
			continue
		}
		for _, p := range t.prints {
			for _, b := range have[p] {
				shared[b]++
			}
		}
		for b := a + 1; b < len(c.texts); b++ {
			if least := min(len(t.prints), len(c.texts[b].prints)); shared[b] > 0 {
				if share := float64(shared[b]) / float64(least); share >= c.threshold/3 {
					found = append(found, candidate{a, b, share})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(p, q candidate) int { return cmp.Compare(q.share, p.share) })
	var pairs [][2]int
	for _, p := range found {
		pairs = append(pairs, [2]int{p.a, p.b})
	}
	return pairs
}
