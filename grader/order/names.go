package order

import "cudalab/native/trace"

// Names puts a trace's calls into the words that findings have for them.
type Names struct{ words words }

// NamesOf are the names of a trace.
func NamesOf(t *trace.Trace) *Names { return &Names{words{t: t, names: nameStreams(t)}} }

// Call is the i-th record's call with its stream, if it has one: "the launch of process on streams[1]".
func (n *Names) Call(i int) string { return n.words.callOn(i) }

// Memory is what the i-th record's call has made: "the 4,096 bytes from MallocAsync on streams[1]".
func (n *Names) Memory(i int) string {
	a := &allocation{made: i, size: n.words.record(i).Size}
	if n.words.record(i).Op == trace.OpBlockAlloc {
		a.block = &block{}
	}
	return n.words.memory(a)
}

// Stream is a stream's name, as the grader has given it: "streams[1]".
func (n *Names) Stream(id trace.ID) string { return n.words.stream(id) }
