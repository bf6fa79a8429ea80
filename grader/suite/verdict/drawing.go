package verdict

// Drawing is how an allocator's memory stood behind each operation of the sequence that a finding is about.
type Drawing struct {
	Frames []Frame // the last is behind the operation that was answered wrongly
}

// Run is how full an allocator was during its longest sequence, and how its memory was divided.
type Run struct {
	Title string // "slab.New([256 512], 4)"
	Steps []Use  // behind each operation
}

// Use is how much of an allocator's memory is used, in bytes.
type Use struct {
	Total   int64 // of its memory
	Out     int64 // of the blocks that are handed out
	Asked   int64 // for the same blocks
	Largest int64 // for which one request would succeed
	Refused int64 // that this operation has asked for in vain; 0: none
}

// Occupancy is the part of the memory that is handed out.
func (u Use) Occupancy() float64 { return part(u.Out, u.Total) }

// Internal is the internal fragmentation: the part of what is handed out that nobody has asked for.
func (u Use) Internal() float64 { return part(u.Out-u.Asked, u.Out) }

// External is the external fragmentation: the part of what is free that no single request could have.
func (u Use) External() float64 { return part(u.Total-u.Out-u.Largest, u.Total-u.Out) }

func part(n, of int64) float64 {
	if of <= 0 || n <= 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// Frame is the memory behind one operation.
type Frame struct {
	Op   string // "allocate 300"
	Rows []Row  // the same in all frames of a drawing
}

// Row is a stretch of memory, such as a class or an order of blocks.
type Row struct {
	Name  string
	Cells []Cell
}

// Cell is a part of a row.
type Cell struct {
	From, To float64 // shares of the row
	Text     string
	Kind     CellKind
	Asked    float64 // of a block: the share of it that was asked for; 0 where nothing is to be told
}

// CellKind is what there is in a part of a row.
type CellKind string

// The kinds of cells.
const (
	Free    CellKind = "free"    // nobody has it
	Out     CellKind = "out"     // a block in its user's hands
	Spilled CellKind = "spilled" // a block that is larger than it need be, since the smaller ones are all out
	Back    CellKind = "back"    // a block that has just been given back
	Buddy   CellKind = "buddy"   // the other half of what such a block is half of
	Mapped  CellKind = "mapped"  // addresses with memory behind them
	Wrong   CellKind = "wrong"   // what the answer at fault is about
)
