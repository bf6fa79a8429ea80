package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/native/trace"
)

// memoryFigure is the life of each block, below the calls and on their times: blocks at one height share an address.
type memoryFigure struct {
	Height  px
	Bands   []band
	Note    string
	Summary string
}

// band is a block from its allocation to its free.
type band struct {
	X, Y, W, H px
	TextY      px
	Label      string // "" where there is no room
	Tip        string
	Class      string
	Name       string
	Size       string
	Address    string
	From, To   string // the calls
	Reused     bool
}

// poolFigure is a pool's size over time.
type poolFigure struct {
	Name         string // "default pool: reserved"
	Path         string
	Area         string
	Max, Last    string
	Y, TopY, Low px
}

const (
	bandLow, bandHigh = 20.0, 56.0
	bandGap           = 4.0
	mostBands         = 120
	poolHeight        = 44.0
	poolPad           = 18.0
)

// memory draws the device memory of the scene.
func (f *sceneFigure) memory() {
	var blocks []timeline.Block
	for _, b := range f.t.Blocks {
		alive := b.Made < f.to && (b.Freed < 0 || b.Freed >= f.from)
		if b.Kind != timeline.DeviceMemory && b.Kind != timeline.Mapping || !alive {
			continue
		}
		blocks = append(blocks, b)
	}
	f.pools()
	if len(blocks) == 0 {
		return
	}
	m := &memoryFigure{}
	if len(blocks) > mostBands {
		m.Note = fmt.Sprintf("The first %d of %d blocks are drawn.", mostBands, len(blocks))
		blocks = blocks[:mostBands]
	}
	place, height := stack(blocks)
	lived := map[uint64]bool{}
	for _, b := range blocks {
		x0, x1 := 0.0, f.scale.width
		if made := f.barOf(b.Made); b.Made >= f.from && made != nil {
			x0 = float64(made.X)
		}
		if b.Freed >= 0 {
			if freed := f.barOf(b.Freed); b.Freed < f.to && freed != nil {
				x1 = float64(freed.X + freed.W)
			}
		}
		n := band{X: look.Round(x0), W: look.Round(max(x1-x0, 3)), Class: "band", Reused: lived[b.Addr], Size: bytes(b.Size),
			Address: fmt.Sprintf("%#x", b.Addr), From: f.callAt(b.Made), To: "never"}
		lived[b.Addr] = true
		at := place[span{b.Addr, b.Addr + uint64(b.Size)}]
		n.Y, n.H = look.Round(at.y), look.Round(at.height)
		n.TextY = n.Y + n.H/2 + 4
		n.Name = fmt.Sprintf("block %d", b.Alloc)
		n.Label = n.Size
		if n.Reused {
			n.Label = "↻ " + n.Label
		}
		if float64(len([]rune(n.Label)))*letter+8 > x1-x0 {
			n.Label = ""
		}
		tip := []string{n.Name + ": " + n.Size + " of " + b.Kind.String() + " at " + n.Address, "made by " + n.From}
		switch {
		case b.Freed >= 0:
			n.To = f.callAt(b.Freed)
			tip = append(tip, "freed by "+n.To)
		case b.Student:
			n.Class += " leaked"
			tip = append(tip, "never freed")
		default:
			tip = append(tip, "the grader's, freed after the case")
		}
		if !b.Student {
			n.Class += " grader"
		}
		if n.Reused {
			tip = append(tip, "an address that an earlier block had")
		}
		n.Tip = strings.Join(tip, "\n")
		m.Bands = append(m.Bands, n)
	}
	m.Height = look.Round(height)
	m.Summary = fmt.Sprintf("%s of device memory, each from its allocation to its free.", look.Plural(len(blocks),
		"block"))
	f.Memory = m
}

// callAt is a call with its line: "MallocAsync on streams[0], asyncpipeline.go:53".
func (f *sceneFigure) callAt(i int) string {
	c := &f.t.Calls[i]
	text := f.t.Title(c)
	if line := c.Line(); line != "" {
		text += ", " + line
	}
	return text
}

// span is a range of addresses.
type span struct{ lo, hi uint64 }

type placed struct{ y, height float64 }

// stack gives each range of addresses a height, in their order, with the lowest address at the top. Heights grow with
// the logarithm of the size. Ranges that overlap, since one was handed out after the other was freed, share a place.
func stack(blocks []timeline.Block) (map[span]placed, float64) {
	spans := make([]span, len(blocks))
	for i, b := range blocks {
		spans[i] = span{b.Addr, b.Addr + uint64(max(b.Size, 1))}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	spans = slices.Compact(spans)
	smallest := math.MaxFloat64
	for _, s := range spans {
		smallest = min(smallest, float64(s.hi-s.lo))
	}
	at := map[span]placed{}
	y := bandGap
	for i := 0; i < len(spans); {
		group := spans[i]
		j := i
		for ; j < len(spans) && spans[j].lo < group.hi; j++ {
			group.hi = max(group.hi, spans[j].hi)
		}
		height := min(bandLow+4*math.Log2(float64(group.hi-group.lo)/smallest), bandHigh)
		whole := float64(group.hi - group.lo)
		for _, s := range spans[i:j] {
			top := height * float64(s.lo-group.lo) / whole
			at[s] = placed{y + top, max(height*float64(s.hi-s.lo)/whole, 15)}
		}
		y += height + bandGap
		i = j
	}
	return at, y
}

// pools draws what the pools said of their sizes while the scene ran.
func (f *sceneFigure) pools() {
	type series struct {
		pool     trace.ID
		reserved bool
	}
	first, last := f.t.Calls[f.from].Record, len(f.t.Trace.Records)
	if f.to < len(f.t.Calls) {
		last = f.t.Calls[f.to].Record
	}
	values := map[series][]timeline.Level{}
	var order []series
	for _, l := range f.t.Levels {
		s := series{l.Pool, l.Reserved}
		if l.Record >= last {
			break
		}
		known := values[s]
		if len(known) == 1 && l.Record < first {
			known = known[:0] // only the last before the scene matters
		}
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
		values[s] = append(known, l)
	}
	slices.SortStableFunc(order, func(a, b series) int {
		return cmp.Or(cmp.Compare(a.pool, b.pool), boolOrder(b.reserved, a.reserved))
	})
	y := 0.0
	for _, s := range order {
		levels := values[s]
		if !slices.ContainsFunc(levels, func(l timeline.Level) bool { return l.Bytes > 0 }) {
			continue
		}
		name := "default pool"
		if s.pool != 0 {
			name = fmt.Sprintf("pool %d of the case", s.pool)
		}
		what := "used"
		if s.reserved {
			what = "reserved"
		}
		f.Pools = append(f.Pools, f.pool(name+", "+what, levels, y))
		y += poolHeight + poolPad
	}
}

// pool is a line in steps, with its largest value as its scale.
func (f *sceneFigure) pool(name string, levels []timeline.Level, y float64) poolFigure {
	var most uint64
	for _, l := range levels {
		most = max(most, l.Bytes)
	}
	bottom := y + poolPad + poolHeight
	height := func(v uint64) px { return look.Round(bottom - float64(v)/float64(most)*poolHeight) }
	var path strings.Builder
	x := look.Round(f.scale.at(levels[0].Time))
	if levels[0].Record < f.t.Calls[f.from].Record {
		x = 0
	}
	start := x
	fmt.Fprintf(&path, "M%v %v", x, height(levels[0].Bytes))
	for _, l := range levels[1:] {
		fmt.Fprintf(&path, "H%vV%v", look.Round(f.scale.at(l.Time)), height(l.Bytes))
	}
	fmt.Fprintf(&path, "H%v", look.Round(f.scale.width))
	return poolFigure{
		Name: name, Path: path.String(), Area: fmt.Sprintf("%sV%vH%vZ", path.String(), look.Round(bottom), start),
		Max: bytes(int64(most)), Last: bytes(int64(levels[len(levels)-1].Bytes)),
		Y: look.Round(y), TopY: look.Round(y + poolPad), Low: look.Round(bottom),
	}
}

// PoolsHeight is the height of all pools' lines together.
func (f *sceneFigure) PoolsHeight() px {
	return look.Round(float64(len(f.Pools)) * (poolHeight + poolPad))
}
