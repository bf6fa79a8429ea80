package allocator

import (
	"fmt"
	"strconv"
	"strings"

	"cudalab/native/cuda"
)

// tagger is an Allocator that books its blocks under tags.
type tagger interface {
	AllocAs(size int64, tag int) (cuda.DevicePtr, error)
}

// asker is an Allocator that asks a function to make room when it is full.
type asker interface{ OnFull(Full) }

// AllocAs asks for a block under the n-th tag, from 1 on; see Tag.
func AllocAs(size int64, tag int) Op { return Op{Kind: KindAlloc, Size: size, Block: tag} }

// The names of tags: one that is empty, one for each letter, and as many more as are wanted.
const (
	letters   = 26
	longerTag = "tag "
)

// Tag is the n-th tag: "" is the first, then come "a" to "z", and then "tag 28" and so on.
func Tag(n int) string {
	switch {
	case n <= 1:
		return ""
	case n <= 1+letters:
		return string(rune('a' + n - 2))
	}
	return longerTag + strconv.Itoa(n)
}

// TagNumber is the number of a tag's name; 0 where it is none of Tag's.
func TagNumber(name string) int {
	switch digits, longer := strings.CutPrefix(name, longerTag); {
	case name == "":
		return 1
	case len(name) == 1 && name[0] >= 'a' && name[0] <= 'z':
		return int(name[0]-'a') + 2
	case longer:
		if n, err := strconv.Atoi(digits); err == nil && n > 1+letters && digits[0] != '0' && digits[0] != '+' {
			return n
		}
	}
	return 0
}

// tagWords is a tag behind what is booked under it.
func tagWords(tag int) string {
	switch tag {
	case 0:
		return ""
	case 1:
		return " (no tag)"
	}
	return fmt.Sprintf(" (%s)", Tag(tag))
}

// Full is what a function does that an allocator asks when it is full.
type Full int64

// What such functions do. All but the last three free or allocate something first, by the allocator's own methods.
const (
	FreeOldest    Full = iota // frees the oldest block, says true
	FreeNewest                // frees the newest block, says true
	FreeAll                   // frees all blocks, says true
	FreeOldestNo              // frees the oldest block and says false all the same
	AllocSame                 // asks for as many bytes itself, then frees the oldest block, says true
	AllocSmall                // frees the two oldest blocks, asks for 1 byte and says true
	ReportToo                 // asks for a Report, frees the oldest block, says true
	FreeTwice                 // frees the oldest block twice, says true
	ReplaceItself             // sets OnFull to SayNo, frees the oldest block, says true
	RemoveItself              // sets OnFull to nil, says false
	SayYes                    // says true, and has freed nothing
	SayNo                     // says false
	NoFunction                // there is none: nil
)

var fullWords = [...]string{
	FreeOldest:    "free the oldest block and say true",
	FreeNewest:    "free the newest block and say true",
	FreeAll:       "free all blocks and say true",
	FreeOldestNo:  "free the oldest block and say false",
	AllocSame:     "ask for as many bytes itself, free the oldest block and say true",
	AllocSmall:    "free the two oldest blocks, ask for 1 byte and say true",
	ReportToo:     "ask for a Report, free the oldest block and say true",
	FreeTwice:     "free the oldest block twice and say true",
	ReplaceItself: "call OnFull with one that says false, free the oldest block and say true",
	RemoveItself:  "call OnFull(nil) and say false",
	SayYes:        "say true though it frees nothing",
	SayNo:         "say false",
	NoFunction:    "do nothing, with nil",
}

// String is what the function does: "free the oldest block and say true".
func (f Full) String() string {
	if f < 0 || int(f) >= len(fullWords) {
		return "do something unknown"
	}
	return fullWords[f]
}

// OnFull has an allocator ask a function that does so when it is full.
func OnFull(does Full) Op { return Op{Kind: KindOnFull, Size: int64(does)} }
