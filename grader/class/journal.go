package class

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"cudalab/grader/class/intake"
	"cudalab/grader/judge/visible"
	"cudalab/grader/suite/verdict"
)

// journalFile is where a folder of results keeps what has happened, one line for each event, nothing ever changed.
const journalFile = "journal.jsonl"

// Header is the journal's first line: what all results in it have in common.
type Header struct {
	Schema    int            `json:"schema"`
	Seed      uint64         `json:"seed"`
	Device    verdict.Device `json:"device"`
	Versions  Versions       `json:"versions"`
	Exercises []Exercise     `json:"exercises"`
	Shard     Shard          `json:"shard,omitzero"`
	// Submissions is a digest of who was to be graded, and of their files.
	Submissions string `json:"submissions"`
}

// event is what one line tells: one of its fields.
type event struct {
	Header *Header  `json:"header,omitempty"`
	Result *Student `json:"result,omitempty"` // a later one of the same student takes the place of an earlier
	// Arrivals are who was there when cudalab was started; later ones take the place of earlier.
	Arrivals *arrivals `json:"arrivals,omitempty"`
}

// line is an event with what proves that it was read as it was written.
type line struct {
	Sum   string          `json:"sum"` // of Event's bytes
	Event json.RawMessage `json:"event"`
}

// journal is the file, open to be written at its end.
type journal struct {
	file *os.File
}

// journalState is what a journal held when it was opened.
type journalState struct {
	header   *Header // nil where there was none
	results  map[string]Student
	arrivals *arrivals            // nil where there were none
	earlier  map[string][]Student // results that later ones have taken the place of, the first ones first
	// torn is set where the last line was not whole: cudalab was ended while it wrote. That line has been cut off.
	torn bool
}

// openJournal opens the journal of a folder, which must be there, and makes it if need be.
func openJournal(dir string) (*journal, journalState, error) {
	path := journalPath(dir)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, journalState{}, fmt.Errorf("the journal: %w", err)
	}
	state, whole, err := readJournal(f, path)
	if err == nil && state.torn {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err == nil {
		err = syncFolder(dir)
	}
	if err != nil {
		f.Close()
		return nil, journalState{}, err
	}
	return &journal{f}, state, nil
}

// readJournal reads all of a journal; whole is where its last whole line ends.
func readJournal(r io.Reader, path string) (state journalState, whole int64, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return journalState{}, 0, fmt.Errorf("the journal: %w", err)
	}
	state.results, state.earlier = map[string]Student{}, map[string][]Student{}
	for n, rest := 1, text; len(rest) > 0; n++ {
		var now []byte
		end := bytes.IndexByte(rest, '\n')
		if end >= 0 {
			now, rest = rest[:end], rest[end+1:]
		} else {
			now, rest = rest, nil
		}
		e, err := readLine(now)
		last := len(rest) == 0
		switch {
		case end < 0 || err != nil && last && n > 1 && !errors.Is(err, errUnknown):
			state.torn = true
			return state, whole, nil
		case err != nil:
			return journalState{}, 0, damaged(path, n, err)
		case (e.Header != nil) != (n == 1):
			return journalState{}, 0, damaged(path, n, errors.New("the journal should have one header, in its first line"))
		}
		switch {
		case e.Header != nil:
			state.header = e.Header
		case e.Arrivals != nil:
			state.arrivals = e.Arrivals
		default:
			id := e.Result.ID
			if old, again := state.results[id]; again {
				state.earlier[id] = append(state.earlier[id], old)
			}
			if e.Result.HandedIn == (intake.Moment{}) && state.arrivals != nil { // when its files came, whatever comes later
				e.Result.HandedIn = state.arrivals.From[id].HandedIn
			}
			state.results[id] = *e.Result
		}
		whole += int64(len(now)) + 1
	}
	return state, whole, nil
}

// errUnknown is the error of a line that was read as it was written, by another version.
var errUnknown = errors.New("it tells no event that this version of cudalab knows")

func readLine(text []byte) (event, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return event{}, errors.New("it is no JSON")
	}
	if sum(l.Event) != l.Sum {
		return event{}, errors.New("its checksum does not match")
	}
	var e event
	if err := json.Unmarshal(l.Event, &e); err != nil || !e.one() {
		return event{}, errUnknown
	}
	if e.Result != nil && !intake.IsID(e.Result.ID) { // files are named after it
		return event{}, fmt.Errorf("%w: no submission is called %q", errUnknown, e.Result.ID)
	}
	return e, nil
}

// one reports whether an event tells one thing.
func (e event) one() bool {
	n := 0
	for _, told := range []bool{e.Header != nil, e.Result != nil, e.Arrivals != nil} {
		if told {
			n++
		}
	}
	return n == 1
}

// damaged is the error of a journal with a line that cannot be believed.
func damaged(path string, n int, why error) error {
	e := &UsageError{fmt.Sprintf("Line %d of %s is damaged: %v. Restore the file from a copy, or delete that line and "+
		"use --resume: whoever's result it held is graded again.", n, path, why)}
	if n == 1 {
		e.Message = fmt.Sprintf("Line 1 of %s, which says what the results have in common, is damaged: %v. Restore the file "+
			"from a copy, or grade into another folder.", path, why)
	}
	return e
}

// begin writes the header of a new journal.
func (j *journal) begin(h Header) error { return j.add(event{Header: &h}) }

// settle writes a result. When it has returned, the result survives whatever happens to cudalab or the machine.
func (j *journal) settle(s Student) error { return j.add(event{Result: &s}) }

// receive writes who was there.
func (j *journal) receive(a *arrivals) error { return j.add(event{Arrivals: a}) }

func (j *journal) add(e event) error {
	text, err := visible.JSON(e)
	if err != nil {
		return err
	}
	text, err = visible.JSON(line{Sum: sum(text), Event: text})
	if err != nil {
		return err
	}
	if _, err = j.file.Write(append(text, '\n')); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:8])
}

// syncFolder has the names in a folder survive a loss of power. Where a system cannot do that there is nothing to be
// done.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

func journalPath(dir string) string { return filepath.Join(dir, journalFile) }
