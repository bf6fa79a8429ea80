// Package terminal reads what a person types, single keys from a terminal and lines from anything else, and opens the
// editor that the person uses, which may need the terminal meanwhile.
package terminal

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// What a terminal sends for Ctrl-C and Ctrl-D while it hands on every key.
const (
	CtrlC = '\x03'
	CtrlD = '\x04'
)

// Keys without a letter: the arrows to the right and down, and those to the left and up.
const (
	Right = '→'
	Left  = '←'
)

// Keyboard is where keys come from, until Close.
type Keyboard struct {
	// Pressed gets one key after the other; of a line, its first letter. It is closed when there will be no more. Keys are
	// small letters. Who has received one calls Next when done with it: until then nothing is read, so that another
	// program may be lent the terminal.
	Pressed <-chan rune

	in    *os.File
	saved *term.State // the terminal's own settings; nil where there is no terminal
	next  chan struct{}
}

// OpenKeyboard begins to read. A terminal sends every key at once and shows none, until Close.
func OpenKeyboard(in *os.File) (*Keyboard, error) {
	pressed := make(chan rune)
	k := &Keyboard{Pressed: pressed, in: in, next: make(chan struct{})}
	if !term.IsTerminal(int(in.Fd())) {
		go k.lines(pressed)
		return k, nil
	}
	var err error
	if k.saved, err = term.MakeRaw(int(in.Fd())); err != nil {
		return nil, err
	}
	go k.keys(pressed)
	return k, nil
}

// Single reports whether keys come one by one. They come as lines otherwise.
func (k *Keyboard) Single() bool { return k.saved != nil }

// Next lets the key after the one that was received be read.
func (k *Keyboard) Next() { k.next <- struct{}{} }

// Close gives the terminal its settings back.
func (k *Keyboard) Close() error {
	if k.saved == nil {
		return nil
	}
	return term.Restore(int(k.in.Fd()), k.saved)
}

// Lend gives the terminal its settings back while f runs.
func (k *Keyboard) Lend(f func() error) error {
	if k.saved == nil {
		return f()
	}
	if err := term.Restore(int(k.in.Fd()), k.saved); err != nil {
		return err
	}
	err := f()
	if _, rawErr := term.MakeRaw(int(k.in.Fd())); err == nil {
		err = rawErr
	}
	return err
}

// Output is w for as long as the terminal hands on every key: it does not return to the beginning of a line by itself
// then.
func (k *Keyboard) Output(w io.Writer) io.Writer {
	if k.saved == nil {
		return w
	}
	return returning{w}
}

type returning struct{ io.Writer }

func (r returning) Write(text []byte) (int, error) {
	_, err := r.Writer.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))
	if err != nil {
		return 0, err
	}
	return len(text), nil
}

// arrows are the keys that go back and forth; what a terminal sends for them ends in these.
var arrows = []struct {
	end string
	key rune
}{{"C", Right}, {"D", Left}, {"B", Right}, {"A", Left}}

// arrow is the key of a sequence, as text; empty where it is none that counts.
func arrow(sequence []byte) []byte {
	for _, a := range arrows {
		if text := string(sequence); text == "\x1b["+a.end || text == "\x1bO"+a.end {
			return []byte(string(a.key))
		}
	}
	return nil
}

// escapeSequence matches what arrows and other keys without a letter send.
var escapeSequence = regexp.MustCompile(`\x1b(\[[0-?]*[@-~]|O.)?`)

func (k *Keyboard) keys(pressed chan<- rune) {
	defer close(pressed)
	buffer := make([]byte, 64)
	for {
		n, err := k.in.Read(buffer)
		if err != nil {
			return
		}
		for text := escapeSequence.ReplaceAllFunc(buffer[:n], arrow); len(text) > 0; {
			key, size := utf8.DecodeRune(text)
			text = text[size:]
			pressed <- unicode.ToLower(key)
			<-k.next
		}
	}
}

func (k *Keyboard) lines(pressed chan<- rune) {
	defer close(pressed)
	for lines := bufio.NewScanner(k.in); lines.Scan(); {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		key, _ := utf8.DecodeRuneInString(text)
		pressed <- unicode.ToLower(key)
		<-k.next
	}
}
