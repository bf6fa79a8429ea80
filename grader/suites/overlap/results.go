package overlap

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// What is noted of in and out when the device is at rest, two words in each number; of a timed call the sum of each
// chunk's words in out. A second call has its own.
const (
	noteWords  = "out"
	noteIn     = "in"
	secondCall = " of the second call"
)

// pinned is the memory of one call.
type pinned struct{ in, out cuda.HostBuffer }

// pin makes the memory of a call, and sees to it that what becomes of it is noted.
func pin(s *suite.Stage, w workload, which string) (p pinned) {
	size := max(4*max(w.n, 0)+w.more, 4)
	piece := make([]byte, min((size+3)/4*4, len(poison)))
	allocate := func(lacks, words int) cuda.HostBuffer { // with so many words in front, and garbage behind
		size := max(size-lacks, 1)
		b, err := cuda.MallocHost(int64(size))
		s.Bench.Must(err)
		if w.far {
			s.Bench.Must(b.Write(0, make([]byte, size)))
			return b
		}
		for at := 0; at < size && (words > 0 || !w.timed); at += len(piece) {
			left := min(max(words-at/4, 0), len(piece)/4)
			for i, item := 0, w.item; i < left; i++ {
				binary.LittleEndian.PutUint32(piece[4*i:], oracle.Item(item, at/4+i))
			}
			if at <= 4*max(words, 0) { // behind, it is garbage already
				copy(piece[4*left:], poison[4*left:])
			}
			s.Bench.Must(b.Write(int64(at), piece[:min(len(piece), size-at)]))
		}
		return b
	}
	free := func(b cuda.HostBuffer) { s.Bench.Must(cuda.FreeHost(b)) }
	lend := func(name string, lacks, words int) cuda.HostBuffer {
		if !w.timed {
			b := allocate(lacks, words)
			s.Finally(func() { free(b) })
			return b
		}
		b := suite.Lasting(s.Bench, name, func() cuda.HostBuffer { return allocate(lacks, words) }, free)
		s.Bench.Must(b.Write(0, binary.LittleEndian.AppendUint32(nil, w.word(0)))) // which has it be in the trace
		return b
	}
	p.in = lend("in", w.lacksOf(1), w.n)
	if p.out = p.in; !w.alias {
		p.out = lend("out", w.lacksOf(2), 0)
	}
	s.AtRest(func() {
		s.Note(noteWords+which, w.noted(s, p.out))
		if !w.timed {
			s.Note(noteIn+which, w.noted(s, p.in))
		}
	})
	return p
}

// poison is as much of what nobody has written as is written at a time.
var poison = garbage(64 << 10)

// garbage is so many bytes that nobody has written.
func garbage(n int) []byte { return slices.Repeat([]byte{suite.Poison}, max(n, 4)) }

// noted is what is noted of a buffer.
func (w workload) noted(s *suite.Stage, b cuda.HostBuffer) (all []uint64) {
	if w.timed {
		return w.sums(s, b)
	}
	bytes := make([]byte, (b.Len()+7)/8*8)
	all = make([]uint64, 0, len(bytes)/8)
	s.Bench.Must(b.Read(0, bytes[:b.Len()]))
	for i := 0; i < len(bytes); i += 8 {
		all = append(all, binary.LittleEndian.Uint64(bytes[i:]))
	}
	return all
}

// sums are the sums of each chunk's words in a buffer.
func (w workload) sums(s *suite.Stage, b cuda.HostBuffer) (all []uint64) {
	chunk := make([]byte, 4*w.size())
	for at := int64(0); at < b.Len(); at += int64(len(chunk)) {
		chunk = chunk[:min(int64(len(chunk)), b.Len()-at)]
		s.Bench.Must(b.Read(at, chunk))
		sum, rest := uint64(0), chunk
		for ; len(rest) >= 8; rest = rest[8:] {
			two := binary.LittleEndian.Uint64(rest)
			sum += two>>32 + two&math.MaxUint32
		}
		for ; len(rest) >= 4; rest = rest[4:] {
			sum += uint64(binary.LittleEndian.Uint32(rest))
		}
		all = append(all, sum)
	}
	return all
}

// bytesOf are the bytes that were noted of a buffer, without those that filled up the last number. What was not noted
// is 0.
func (w workload) bytesOf(noted []uint64) []byte {
	bytes := make([]byte, 0, 8*len(noted))
	for _, v := range noted {
		bytes = binary.LittleEndian.AppendUint64(bytes, v)
	}
	all := make([]byte, 4*w.n+w.more)
	copy(all, bytes)
	return all
}

// firstWrongSum is the first chunk of a timed call whose sum is wrong or missing; -1 if all are right.
func (w workload) firstWrongSum(sums []uint64) int {
	mixing, size := w.mixing(), w.size()
	for i := range w.chunks() {
		if i >= len(sums) || sums[i] != mixing.SumOf(w.item, i*size, min((i+1)*size, w.n)) {
			return i
		}
	}
	return -1
}

// firstWrong is the first word of out that is not as it must be, or of the bytes behind; -1 if all are.
func (w workload) firstWrong(out []byte) int {
	mixing := w.mixing()
	for i := range w.n {
		if binary.LittleEndian.Uint32(out[4*i:]) != mixing.Of(w.word(i)) {
			return i
		}
	}
	if slices.ContainsFunc(out[4*w.n:], func(b byte) bool { return b != suite.Poison }) {
		return w.n
	}
	return -1
}

// exact says of calls that all of their words are right.
func exact(all []suite.Made[workload]) string {
	words := 0
	for _, m := range all {
		words += m.W.n
		if m.W.again {
			words += m.W.n
		}
	}
	return fmt.Sprintf("%d words are exact, with each stream late in turn.", words)
}

// wrongResult finds the first word that is wrong, or that in was written to.
func wrongResult(m *suite.Made[workload]) []verdict.Finding {
	c := call{m}
	if m.W.timed {
		if i := m.W.firstWrongSum(m.Noted(noteWords)); i >= 0 {
			return []verdict.Finding{c.Finding(c.writer(i), suite.Rule{ID: wrongWords,
				Why: "Each word of out is made of the one at its place in in, so one that is missing, or another's, shows.",
				Fix: "Send every chunk through the kernel anew in every call, whatever was done before.",
			}, "chunk %d came out wrong.", i)}
		}
		return leftOut(m)
	}
	for _, which := range []string{"", secondCall} {
		if which != "" && !m.W.again {
			break
		}
		out := m.W.bytesOf(m.Noted(noteWords + which))
		if i := m.W.firstWrong(out); i >= 0 {
			return []verdict.Finding{c.wrongWord(out, i, which)}
		}
		if in := m.W.bytesOf(m.Noted(noteIn + which)); !m.W.alias && !m.W.untouched(in) {
			return []verdict.Finding{c.wroteIn()}
		}
	}
	return nil
}

// uncomputed finds what a far call should have launched, or copied, and has not.
func uncomputed(m *suite.Made[workload]) []verdict.Finding {
	c := call{m}
	if found := c.unmixed(1); len(found) > 0 {
		return found
	}
	if c.tooLarge() != nil || len(c.All(func(r *trace.Record) bool { return r.Host == trace.Pageable })) > 0 {
		return nil // what came in other pieces, or another way, is told as that
	}
	return leftOut(m)
}

// workArgument is the number of the launch's argument that is the work.
const workArgument = 3

// unmixed finds a launch with another work than it should have, and words that have not gone through the kernel so
// often.
func (c call) unmixed(times int) []verdict.Finding {
	rule := suite.WrongLaunch("Launch kernels.Mix over all words of each chunk, by a grid of (words + block - 1) / " +
		"block blocks, with work as it was given.")
	bytes, last := int64(0), -1
	for _, at := range c.Launches(kernel) {
		r := c.Record(at)
		if r.Given != nil && len(r.Given.Args) > workArgument && r.Given.Args[workArgument] != uint64(c.W.work) {
			return []verdict.Finding{c.Finding(at, rule, "kernels.Mix should be launched with work %d, but is launched with %d.",
				c.W.work, r.Given.Args[workArgument])}
		}
		for _, a := range r.Accesses {
			if a.Kind == trace.Write {
				bytes += a.Size
			}
		}
		last = at
	}
	if should := 4 * int64(times) * int64(c.W.n); bytes < should {
		return []verdict.Finding{c.Finding(last, rule,
			"kernels.Mix should go over %d words, but all launches together go over %d.", should/4, bytes/4)}
	}
	return nil
}

// untouched reports whether in holds what it held before.
func (w workload) untouched(in []byte) bool {
	for i := range w.n {
		if binary.LittleEndian.Uint32(in[4*i:]) != w.word(i) {
			return false
		}
	}
	return true
}

const wrongWords = "wrong-words"

// wrongWord is the finding about the first word of out that is wrong.
func (c call) wrongWord(out []byte, i int, which string) verdict.Finding {
	rule := suite.Rule{ID: wrongWords, Why: "Each word of out is made of the one at its place in in, so one that is " +
		"missing, or another's, shows.",
		Fix: "Take the words of chunk i from in.At(4*i*chunk), and put as many back at out.At(4*i*chunk): chunk of " +
			"them, in the last chunk what is left."}
	if i >= c.W.n {
		return c.Finding(c.writer(c.W.chunks()-1), rule,
			"what lies behind the %d words%s should stay as it was, but was written to.", c.W.n, which)
	}
	chunk, got := i/c.W.size(), binary.LittleEndian.Uint32(out[4*i:])
	words, fix := c.explain(i, got)
	if fix != "" {
		rule.Fix = fix
	}
	return c.Finding(c.writer(chunk), rule, "word %d of out%s, in chunk %d, should be %d, but is %d%s.", i, which, chunk,
		c.W.want(i), got, words)
}

// explain recognises the commonest ways of getting a word wrong.
func (c call) explain(i int, got uint32) (words, fix string) {
	w, untouched := c.W, binary.LittleEndian.Uint32(garbage(4))
	size, last := w.size(), i/w.size() == w.chunks()-1
	switch {
	case got == untouched && last && w.n%size != 0:
		return ": nothing was ever written there", "The last chunk has what is left, n - i*chunk words: send it as well, " +
			"and all of it."
	case got == untouched:
		return ": nothing was ever written there", ""
	case got == w.word(i):
		return ", the word of in as it was", "Launch kernels.Mix on all words of the chunk, by a grid of (words + block - " +
			"1) / block blocks, between the two copies."
	case got == w.mixing().Of(w.want(i)):
		return ", which is mixed twice", "Launch kernels.Mix once for each chunk."
	}
	for _, other := range []int{i - size, i + size} {
		if other >= 0 && other < w.n && got == w.want(other) {
			return fmt.Sprintf(", that of chunk %d", other/size),
				"Copy each chunk back to its own place, and use its buffer for the next only behind that."
		}
	}
	return "", ""
}

// writer is the last copy that wrote to a chunk's place in out; -1 if there is none.
func (c call) writer(chunk int) int {
	back := c.back()
	if chunk < len(back) {
		return back[chunk]
	}
	return -1
}

// wroteIn is the finding about an in that was written to.
func (c call) wroteIn() verdict.Finding {
	at := -1
	for _, copied := range c.Find(trace.OpMemcpyDtoHAsync) {
		if suite.Touching(c.Record(copied), c.inAlloc()) {
			at = copied
		}
	}
	return c.Finding(at, suite.Rule{ID: wrongWords, Why: "What Run is given to read, its caller may still need.",
		Fix: "Copy back to out.At(…)."},
		"in should stay as it was, but was written to.")
}
