package intake

import "time"

// Bounds on one submission. They are far above what exercises need, and far below what could hurt.
const (
	maxEntries   = 10_000
	maxUnpacked  = 64 << 20    // bytes, with the archives inside it unpacked
	maxPacked    = 64 << 20    // bytes of an archive as it was handed in
	maxNesting   = 2           // archives around a file
	maxPath      = 1024        // bytes of a path in an archive or folder
	maxUnpacking = time.Minute // of an archive that brings its own programs
	maxWindow    = 64 << 20    // bytes that an unpacker may have to remember
)

// An archive that unpacks to more than freeUnpacked bytes may do so to at most maxRatio times its size. Source shrinks
// to a fifth, and a bomb to a thousandth.
const (
	freeUnpacked = 4 << 20
	maxRatio     = 200
)

// Bounds on the files of one exercise, which are those of package compile. To be refused there, a file that is too
// large is copied up to the first byte that is too many, and one file more than is allowed is copied.
const (
	maxFiles    = 64
	maxFileSize = 1 << 20 // bytes
	maxSize     = 4 << 20 // bytes of all files
)

// Bounds on all of SUBMISSIONS.
const (
	maxSubmissions  = 10_000
	maxClassEntries = 1_000_000
	maxListed       = 100_000 // below one folder in it, which may be a section's
)

// bounds limit one archive.
type bounds struct {
	entries  int
	packed   int64 // bytes
	unpacked int64 // bytes
	ratio    bool  // whether maxRatio holds
}

var (
	submissionBounds = bounds{entries: maxEntries, packed: maxPacked, unpacked: maxUnpacked, ratio: true}
	// An export is as large as its class. What a student put into it is held to the bounds on one submission afterwards.
	classBounds = bounds{entries: maxClassEntries, packed: 16 << 30, unpacked: 16 << 30}
	// An archive that lies in SUBMISSIONS may hold the class or a section, or be one student's.
	nestedClassBounds = bounds{entries: maxClassEntries, packed: 16 << 30, unpacked: 16 << 30, ratio: true}
)

func tooManyEntries(what string, limit int) fault {
	return faultf("%s holds more than %d files and folders. Hand in only the exercises' files.", what, limit)
}

func tooLarge(what string, limit int64) fault {
	return faultf("%s unpacks to more than %d MiB. Hand in only the exercises' files, which are small.", what, limit>>20)
}

func bomb(what string) fault {
	return faultf("%s unpacks to more than %d times its size, as archives do that are made to fill disks. Hand in "+
		"only the exercises' files.", what, maxRatio)
}
