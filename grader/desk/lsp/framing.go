package lsp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The bounds of a message: no editor comes near them, and nobody makes the server take more memory.
const (
	maxHeader  = 4 << 10  // bytes of one line of a header
	maxFields  = 16       // lines of a header
	maxContent = 64 << 20 // bytes
)

// FramingError is input that is no message as the protocol's base frames it. What comes behind it cannot be told apart
// any more.
type FramingError struct{ Problem string }

func (e *FramingError) Error() string {
	return "the client's message is not framed as the protocol says: " + e.Problem
}

func malformed(format string, a ...any) error { return &FramingError{fmt.Sprintf(format, a...)} }

// frames reads messages: header fields, each ended by \r\n, an empty line, and as many bytes as Content-Length says
// (LSP 3.17, Base Protocol).
type frames struct{ in *bufio.Reader }

func newFrames(in io.Reader) *frames { return &frames{bufio.NewReaderSize(in, maxHeader)} }

// next is the content of the next message. It is io.EOF where the input ends between two messages, and a *FramingError
// where it is none, or ends within one.
func (f *frames) next() ([]byte, error) {
	length := -1
	for n := 0; ; n++ {
		line, err := f.line()
		if errors.Is(err, io.EOF) && n > 0 {
			return nil, malformed("it ends within its header")
		}
		if err != nil {
			return nil, err
		}
		if line == "" {
			break
		}
		if n == maxFields {
			return nil, malformed("its header has more than %d lines", maxFields)
		}
		if length, err = field(line, length); err != nil {
			return nil, err
		}
	}
	if length < 0 {
		return nil, malformed("its header has no Content-Length")
	}
	var content bytes.Buffer // grows with what comes, whatever was announced
	if _, err := io.CopyN(&content, f.in, int64(length)); err != nil {
		return nil, malformed("it ends after %d of %d bytes", content.Len(), length)
	}
	return content.Bytes(), nil
}

// line is a line of a header without its end.
func (f *frames) line() (string, error) {
	line, err := f.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", malformed("a line of its header is longer than %d bytes", maxHeader)
	case err != nil && len(line) == 0:
		return "", io.EOF
	case err != nil:
		return "", malformed("it ends within its header")
	}
	text, ok := strings.CutSuffix(string(line), "\r\n")
	if !ok {
		return "", malformed("the line %.60q of its header does not end in \\r\\n", line)
	}
	return text, nil
}

// field takes one line of a header in; length is what Content-Length has said so far, -1 for nothing.
func field(line string, length int) (int, error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") {
		return 0, malformed("%.60q is no field of a header", line)
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(name) {
	case "content-length":
		n, err := strconv.ParseUint(value, 10, 63)
		switch {
		case length >= 0:
			return 0, malformed("it has two Content-Lengths")
		case err != nil && !errors.Is(err, strconv.ErrRange):
			return 0, malformed("the Content-Length %.60q is no number", value)
		case err != nil || n > maxContent:
			return 0, malformed("its Content-Length %.60s is more than %d bytes", value, maxContent)
		}
		return int(n), nil
	case "content-type":
		_, charset, _ := strings.Cut(strings.ToLower(value), "charset=")
		if charset = strings.Trim(charset, `"`); charset != "" && charset != "utf-8" && charset != "utf8" {
			return 0, malformed("its charset is %.60q, not utf-8", charset)
		}
	}
	return length, nil
}

// writeFrame writes one message.
func writeFrame(out io.Writer, content []byte) error {
	_, err := fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%s", len(content), content)
	return err
}
