package verdict

// Threads is an order of threads' operations on one shared word, in which something goes wrong.
type Threads struct {
	Threads  int
	Capacity uint64 // bytes that there are to be handed out
	Taken    uint64 // of them at the beginning
	Word     string // what stands in the word at the beginning
	Steps    []ThreadStep
}

// ThreadStep is one operation on the word.
type ThreadStep struct {
	Thread  int    // counted from 0
	Asks    string // what the call asks for whose first operation it is: "16"
	Op      string // "CompareAndSwap(48, 64)"
	Short   string // "CAS 48→64"
	Answer  string // what stood in the word
	Word    string // what stands in it then
	Changes bool
	More    bool      // the call goes on behind it, with what it has learnt
	Gets    string    // what the call answered whose last operation it is: "48"
	Blocks  []Stretch // what that is in bytes
}

// Stretch is bytes that a thread was given.
type Stretch struct{ From, Size uint64 }
