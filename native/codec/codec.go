// Package codec writes and reads the compact binary fields of cudalab's trace files and of the stream between a runner
// and cudalab: variable-length integers, and strings with their length in front. It exists because the runner, whose
// link time a student waits for, cannot afford encoding/json.
package codec

import (
	"encoding/binary"
	"errors"
)

// ErrDamaged is the answer to bytes that were cut off or were never written by a Writer.
var ErrDamaged = errors.New("damaged data")

// oneByte is the least integer that takes more than a byte. Most are less, and the functions that serve all take
// longer.
const oneByte = 0x80

// Writer appends fields to a buffer. The zero Writer is ready for use.
type Writer struct{ buf []byte }

// Bytes is what was written so far; it is valid until the next write or Reset.
func (w *Writer) Bytes() []byte { return w.buf }

// Reset empties the Writer and keeps its memory.
func (w *Writer) Reset() { w.buf = w.buf[:0] }

// Uint writes an unsigned integer.
func (w *Writer) Uint(v uint64) {
	if v < oneByte {
		w.buf = append(w.buf, byte(v))
		return
	}
	w.buf = binary.AppendUvarint(w.buf, v)
}

// Int writes a signed integer: those that are small, negative ones too, in few bytes.
func (w *Writer) Int(v int64) { w.Uint(uint64(v)<<1 ^ uint64(v>>63)) }

// Bool writes one byte.
func (w *Writer) Bool(v bool) {
	if v {
		w.buf = append(w.buf, 1)
	} else {
		w.buf = append(w.buf, 0)
	}
}

// String writes a string with its length.
func (w *Writer) String(s string) {
	w.Uint(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

// Raw writes bytes with their number.
func (w *Writer) Raw(b []byte) {
	w.Uint(uint64(len(b)))
	w.buf = append(w.buf, b...)
}

// Reader takes fields from a buffer in the order in which they were written. After the first damaged field every
// further one is zero and Err says so.
type Reader struct {
	buf   []byte
	err   error
	known *Strings // nil: none
}

// NewReader reads from b, which must not change meanwhile.
func NewReader(b []byte) *Reader { return &Reader{buf: b} }

// Strings holds one copy of the strings that come again and again. The zero Strings is ready for use.
type Strings struct{ known map[string]string }

// Bounds on Strings: those that name functions, files and series are short and few.
const (
	maxStrings      = 1 << 12
	maxSharedLength = 256 // bytes
)

func (s *Strings) intern(b []byte) string {
	if len(b) > maxSharedLength {
		return string(b)
	}
	if known, ok := s.known[string(b)]; ok {
		return known
	}
	if s.known == nil {
		s.known = map[string]string{}
	}
	if len(s.known) >= maxStrings {
		clear(s.known)
	}
	text := string(b)
	s.known[text] = text
	return text
}

// Share has the reader take strings from known where they have been read before.
func (r *Reader) Share(known *Strings) { r.known = known }

// Err is ErrDamaged once a field could not be read.
func (r *Reader) Err() error { return r.err }

// Empty reports whether all was read.
func (r *Reader) Empty() bool { return len(r.buf) == 0 }

func (r *Reader) advance(n int) bool {
	if n <= 0 || n > len(r.buf) {
		r.err, r.buf = ErrDamaged, nil
		return false
	}
	r.buf = r.buf[n:]
	return true
}

// Uint reads an unsigned integer.
func (r *Reader) Uint() uint64 {
	if len(r.buf) > 0 && r.buf[0] < oneByte {
		v := uint64(r.buf[0])
		r.buf = r.buf[1:]
		return v
	}
	v, n := binary.Uvarint(r.buf)
	if !r.advance(n) {
		return 0
	}
	return v
}

// Int reads a signed integer.
func (r *Reader) Int() int64 {
	v := r.Uint()
	if v&1 != 0 {
		return ^int64(v >> 1)
	}
	return int64(v >> 1)
}

// Bool reads one byte.
func (r *Reader) Bool() bool {
	if len(r.buf) == 0 {
		return r.advance(1)
	}
	v := r.buf[0] != 0
	r.advance(1)
	return v
}

// String reads a string.
func (r *Reader) String() string {
	n := r.Uint()
	if n == 0 {
		return ""
	}
	if n > uint64(len(r.buf)) {
		r.advance(-1)
		return ""
	}
	b := r.buf[:n]
	r.advance(int(n))
	if r.known != nil {
		return r.known.intern(b)
	}
	return string(b)
}

// Raw reads what Writer.Raw wrote, into memory of its own; nil if that was no bytes.
func (r *Reader) Raw() []byte {
	n := r.Len(1)
	if n == 0 {
		return nil
	}
	b := append([]byte(nil), r.buf[:n]...)
	r.advance(n)
	return b
}

// Len reads a count of elements that follow, each at least so many bytes long, so that a damaged count cannot ask for
// more memory than the data could fill.
func (r *Reader) Len(each int) int {
	n := r.Uint()
	if n > uint64(len(r.buf)/each) {
		r.advance(-1)
		return 0
	}
	return int(n)
}
