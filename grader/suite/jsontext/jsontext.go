// Package jsontext writes JSON that can be shown as it is. The texts in a report may be strangers': characters that turn the
// direction of writing round, that cannot be seen or that steer a terminal stand in it as \u202e. Whoever reads the JSON gets the
// same text.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Marshal is a value as JSON in one line, with <, > and & as they are.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return escape(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// Write writes a value as a document of its own, indented.
func Write(w io.Writer, v any) error {
	text, err := Marshal(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// escape writes out what cannot be seen. All of that is inside of strings: the rest of JSON is plain ASCII.
func escape(text []byte) []byte {
	strange := func(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }
	if bytes.IndexFunc(text, strange) < 0 {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !strange(r):
			b.Write(text[:size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b.Bytes()
}
