package tracker

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"cudalab/grader/suite/allocator"
	"cudalab/native/cuda"
)

// own is what a tracker does in place of an allocator: it books its blocks under tags, and asks a function to make
// room when it is full.
type own struct{}

// Do asks for a block under the tag of an operation, or has the function set that its size stands for.
func (own) Do(tracker any, op allocator.Op) (cuda.DevicePtr, error) {
	u := tracker.(*user)
	if op.Kind == allocator.KindAlloc {
		return u.AllocAs(op.Size, op.Block)
	}
	u.OnFull(full(op.Size))
	return 0, nil
}

// Words are the operation's: "allocate 300 (a)".
func (own) Words(op allocator.Op) string {
	switch op.Kind {
	case allocator.KindAlloc:
		return fmt.Sprintf("allocate %d", op.Size) + tagWords(op.Block)
	case allocator.KindOwn:
		return "have OnFull " + full(op.Size).String()
	}
	return ""
}

func (own) Method(t reflect.Type) (reflect.Method, bool) { return t.MethodByName("OnFull") }

func (own) MethodName() string { return "OnFull" }

// alloc asks for a block under the n-th tag, from 1 on; see tagName.
func alloc(size int64, tag int) allocator.Op {
	return allocator.Op{Kind: allocator.KindAlloc, Size: size, Block: tag, Own: own{}}
}

// onFull has an allocator ask a function that does so when it is full.
func onFull(does full) allocator.Op {
	return allocator.Op{Kind: allocator.KindOwn, Size: int64(does), Own: own{}}
}

// The names of tags: one that is empty, one for each letter, and as many more as are wanted.
const (
	letters   = 26
	longerTag = "tag "

	longTags = 1 << 30 // tags behind this one are as many letters x as they are numbers behind it
	mostLong = 1 << 16
)

// tagName is the n-th tag: "" is the first, then come "a" to "z", and then "tag 28" and so on.
func tagName(n int) string {
	switch {
	case n <= 1:
		return ""
	case n <= 1+letters:
		return string(rune('a' + n - 2))
	case longTags+1 < n && n <= longTags+mostLong:
		return strings.Repeat("x", n-longTags)
	}
	return longerTag + strconv.Itoa(n)
}

// tagNumber is the number of a tag's name; 0 where it is none of these.
func tagNumber(name string) int64 {
	switch digits, longer := strings.CutPrefix(name, longerTag); {
	case name == "":
		return 1
	case len(name) == 1 && name[0] >= 'a' && name[0] <= 'z':
		return int64(name[0]-'a') + 2
	case len(name) > 1 && strings.Trim(name, "x") == "":
		return longTags + int64(len(name))
	case longer:
		if n, err := strconv.Atoi(digits); err == nil && n > 1+letters && digits[0] != '0' && digits[0] != '+' {
			return int64(n)
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
	name := tagName(tag)
	if len(name) > 40 {
		name = fmt.Sprintf("a tag of %d bytes", len(name))
	}
	return fmt.Sprintf(" (%s)", name)
}

// full is what a function does that an allocator asks when it is full.
type full int64

// What such functions do. All but the last three free or allocate something first, by the allocator's own methods.
const (
	freeOldest    full = iota // frees the oldest block, says true
	freeNewest                // frees the newest block, says true
	freeAll                   // frees all blocks, says true
	freeOldestNo              // frees the oldest block and says false all the same
	allocSame                 // asks for as many bytes itself, then frees the oldest block, says true
	allocSmall                // frees the two oldest blocks, asks for 1 byte and says true
	reportToo                 // asks for a Report, frees the oldest block, says true
	freeTwice                 // frees the oldest block twice, says true
	replaceItself             // sets OnFull to sayNo, frees the oldest block, says true
	removeItself              // sets OnFull to nil, says false
	sayYes                    // says true, and has freed nothing
	sayNo                     // says false
	noFunction                // there is none: nil
)

var fullWords = [...]string{
	freeOldest:    "free the oldest block and say true",
	freeNewest:    "free the newest block and say true",
	freeAll:       "free all blocks and say true",
	freeOldestNo:  "free the oldest block and say false",
	allocSame:     "ask for as many bytes itself, free the oldest block and say true",
	allocSmall:    "free the two oldest blocks, ask for 1 byte and say true",
	reportToo:     "ask for a Report, free the oldest block and say true",
	freeTwice:     "free the oldest block twice and say true",
	replaceItself: "call OnFull with one that says false, free the oldest block and say true",
	removeItself:  "call OnFull(nil) and say false",
	sayYes:        "say true though it frees nothing",
	sayNo:         "say false",
	noFunction:    "do nothing, with nil",
}

// String is what the function does: "free the oldest block and say true".
func (f full) String() string {
	if f < 0 || int(f) >= len(fullWords) {
		return "do something unknown"
	}
	return fullWords[f]
}
