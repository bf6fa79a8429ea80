// Package inside is the half of the sandbox that works in the child: it takes rights from its own process, and then
// turns into the program that was to be confined, without a fork in between.
//
// Whatever imports this package is its own helper. Started again under the name Name it reads an Order and never comes
// to its main function. That is done while packages are initialised, because the rest of cudalab takes longer for its
// own than a whole start may: Go goes by import path, so that this package's turn comes as soon as the little that it
// imports is ready.
package inside

// Name is argv[0] of a helper. Its only argument is an Order in JSON.
const Name = "cudalab-sandbox"

// Order says what a helper has to do.
type Order struct {
	Trial   bool     // only to try: take the rights, tell how that went and end
	Program string   // an absolute path
	Args    []string // without the program's own name
	// Inherit is how many descriptors the program gets besides the standard ones: 3, 4 and so on. The next one is the
	// pipe for the helper's Answer.
	Inherit int

	Landlock bool // to be used; so with Seccomp
	Seccomp  bool

	Execute []string // files it may execute, the program among them
	Read    []string // files it may read, and folders with all that is in them
	Write   []string // folders in which it may do as it likes
	Devices []string // device nodes, and folders of them, to read, write and control
	// Driver lets it do what libcuda needs of the process itself: to write to /proc/self/task (cuInit names its threads
	// there, and answers OPERATING_SYSTEM (304) if it cannot) and to make files in memory (memfd_create).
	Driver bool

	OpenFiles uint64
	FileSize  uint64 // bytes
	Tasks     uint64 // threads; 0: as many as the user may have
}

// Answer is what a helper says where it did not turn into the program. Each field is empty or what went wrong.
type Answer struct {
	Failure  string // that the program could not be started
	Landlock string // a trial's; so with Seccomp
	Seccomp  string
}
