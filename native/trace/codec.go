package trace

import (
	"fmt"

	"cudalab/native/codec"
)

// formatVersion is the first field of an encoded trace. It changes with every change of the fields below.
const formatVersion = 5

// The fewest bytes that each of these takes: one for each of its fields.
const (
	leastSite   = 1
	leastFrame  = 3
	leastRecord = 27
	leastArg    = 1
	leastAccess = 7
)

// Encode appends t's binary form to w: the version, the sites, the records. Fields are variable-length integers and
// strings in the order of the struct; nothing is aligned and nothing is optional.
func (t *Trace) Encode(w *codec.Writer) {
	w.Uint(formatVersion)
	w.Uint(uint64(len(t.Sites)))
	for _, site := range t.Sites {
		w.Uint(uint64(len(site)))
		for _, f := range site {
			w.String(f.Func)
			w.String(f.File)
			w.Uint(uint64(f.Line))
		}
	}
	w.Uint(uint64(len(t.Records)))
	for i := range t.Records {
		t.Records[i].encode(w)
	}
}

func (r *Record) encode(w *codec.Writer) {
	w.Uint(uint64(r.Op))
	w.Uint(uint64(r.Phase))
	w.Uint(uint64(r.Host))
	w.Int(int64(r.Code))
	w.Uint(uint64(r.Site))
	w.Int(int64(r.Pair))
	w.Uint(uint64(r.Stream))
	w.Uint(uint64(r.Event))
	w.Uint(uint64(r.Event2))
	w.Uint(uint64(r.Pool))
	w.Int(int64(r.Attr))
	w.Uint(r.Value)
	w.Uint(uint64(r.Alloc))
	w.Bool(r.Freed)
	w.Uint(r.Addr)
	w.Int(r.Size)
	w.Uint(uint64(r.Flags))
	w.Bool(r.Stale)
	w.Bool(r.Faked)
	w.Int(r.Time)
	w.Int(r.Took)
	w.Int(r.Start)
	w.Int(r.End)
	w.String(r.Kernel)
	w.String(r.Label)
	w.Uint(uint64(len(r.Accesses)))
	for _, a := range r.Accesses {
		w.Uint(uint64(a.Alloc))
		w.Bool(a.Freed)
		w.Int(a.Offset)
		w.Int(a.Size)
		w.Uint(uint64(a.Kind))
		w.Uint(uint64(a.Arg))
		w.Uint(a.Addr)
	}
	w.Bool(r.Given != nil)
	if r.Given != nil {
		r.Given.encode(w)
	}
}

func (g *Given) encode(w *codec.Writer) {
	for _, d := range [][3]uint32{g.Grid, g.Block} {
		for _, n := range d {
			w.Uint(uint64(n))
		}
	}
	w.Uint(uint64(len(g.Args)))
	for _, a := range g.Args {
		w.Uint(a)
	}
	w.Raw(g.Data)
}

// Decode reads a trace that Encode wrote. Cut-off or foreign bytes are an error, never a panic.
func Decode(r *codec.Reader) (*Trace, error) {
	if v := r.Uint(); r.Err() == nil && v != formatVersion {
		return nil, fmt.Errorf("trace: format version %d, want %d", v, formatVersion)
	}
	t := &Trace{Sites: make([]Site, r.Len(leastSite))}
	for i := range t.Sites {
		site := make(Site, r.Len(leastFrame))
		for j := range site {
			site[j] = Frame{Func: r.String(), File: r.String(), Line: int(r.Uint())}
		}
		t.Sites[i] = site
	}
	t.Records = make([]Record, r.Len(leastRecord))
	for i := range t.Records {
		t.Records[i].decode(r)
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return t, nil
}

func (rec *Record) decode(r *codec.Reader) {
	rec.Op = Op(r.Uint())
	rec.Phase = Phase(r.Uint())
	rec.Host = HostMemory(r.Uint())
	rec.Code = int32(r.Int())
	rec.Site = uint32(r.Uint())
	rec.Pair = int32(r.Int())
	rec.Stream = ID(r.Uint())
	rec.Event = ID(r.Uint())
	rec.Event2 = ID(r.Uint())
	rec.Pool = ID(r.Uint())
	rec.Attr = int32(r.Int())
	rec.Value = r.Uint()
	rec.Alloc = ID(r.Uint())
	rec.Freed = r.Bool()
	rec.Addr = r.Uint()
	rec.Size = r.Int()
	rec.Flags = uint32(r.Uint())
	rec.Stale = r.Bool()
	rec.Faked = r.Bool()
	rec.Time = r.Int()
	rec.Took = r.Int()
	rec.Start = r.Int()
	rec.End = r.Int()
	rec.Kernel = r.String()
	rec.Label = r.String()
	if n := r.Len(leastAccess); n > 0 {
		rec.Accesses = make([]Access, n)
		for i := range rec.Accesses {
			rec.Accesses[i] = Access{Alloc: ID(r.Uint()), Freed: r.Bool(), Offset: r.Int(), Size: r.Int(),
				Kind: AccessKind(r.Uint()), Arg: uint8(r.Uint()), Addr: r.Uint()}
		}
	}
	if r.Bool() {
		rec.Given = &Given{}
		rec.Given.decode(r)
	}
}

func (g *Given) decode(r *codec.Reader) {
	for i := range g.Grid {
		g.Grid[i] = uint32(r.Uint())
	}
	for i := range g.Block {
		g.Block[i] = uint32(r.Uint())
	}
	if n := r.Len(leastArg); n > 0 {
		g.Args = make([]uint64, n)
		for i := range g.Args {
			g.Args[i] = r.Uint()
		}
	}
	g.Data = r.Raw()
}
