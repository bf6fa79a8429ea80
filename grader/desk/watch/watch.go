// Package watch notices when the Go files of a folder are saved.
package watch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long a folder must be quiet. Editors save in several steps: truncate and write, or write a new file
	// and rename it over the old one.
	settle = 30 * time.Millisecond
	// pollInterval is how often a folder is looked at where the system reports no events.
	pollInterval = 400 * time.Millisecond
	// doubtInterval is how often it is looked at all the same where the system does: events may be lost, and those of a
	// folder that was replaced by another never come.
	doubtInterval = 2 * time.Second
)

// Folder watches the Go files of one folder, until Close.
type Folder struct {
	// Saves gets a value when a Go file was written, made or deleted since the last one. Saves that nobody has received
	// yet count as one.
	Saves <-chan struct{}
	// Note says in one sentence why the folder is looked at from time to time instead of being reported on by the system;
	// "" where that is not so or was asked for.
	Note string

	events *fsnotify.Watcher // nil when polling
	stop   chan struct{}
	done   chan struct{}
}

// Open begins to watch a folder. With poll it is looked at from time to time; so it is where the system does not tell
// of changes.
func Open(dir string, poll bool) *Folder {
	saves := make(chan struct{}, 1)
	f := &Folder{Saves: saves, stop: make(chan struct{}), done: make(chan struct{})}
	if !poll {
		f.events, f.Note = subscribe(dir)
	}
	go f.watch(dir, look(dir), saves)
	return f
}

// subscribe asks the system for events, or says why there are none to be had.
func subscribe(dir string) (*fsnotify.Watcher, string) {
	if kind := silent(dir); kind != "" {
		return nil, fmt.Sprintf("The exercise lies on %s, where saves are not reported: cudalab looks for them every %v.",
			kind, pollInterval)
	}
	events, err := fsnotify.NewWatcher()
	if err == nil {
		if err = events.Add(dir); err == nil {
			return events, ""
		}
		events.Close()
	}
	return nil, fmt.Sprintf("The system does not report saves (%v): cudalab looks for them every %v.", err, pollInterval)
}

// Close ends the watch.
func (f *Folder) Close() {
	close(f.stop)
	<-f.done
}

func (f *Folder) watch(dir string, seen state, saves chan<- struct{}) {
	defer close(f.done)
	interval := pollInterval
	var events <-chan fsnotify.Event
	var errors <-chan error
	if f.events != nil {
		defer f.events.Close()
		interval, events, errors = doubtInterval, f.events.Events, f.events.Errors
	}
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	quiet := time.NewTimer(settle) // whatever happened since Open looked
	defer quiet.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-events:
			quiet.Reset(settle)
		case <-errors: // events were lost
			quiet.Reset(settle)
		case <-ticks.C:
			if now := look(dir); !maps.Equal(now, seen) {
				quiet.Reset(settle)
			}
		case <-quiet.C:
			now := look(dir)
			if maps.Equal(now, seen) {
				continue
			}
			seen = now
			select {
			case saves <- struct{}{}:
			default:
			}
		}
	}
}

// state is what tells one state of a folder's Go files from another.
type state map[string]version

type version struct {
	written time.Time
	size    int64
}

func look(dir string) state {
	entries, _ := os.ReadDir(dir) // a folder that is gone has none
	s := state{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
			s[e.Name()] = version{info.ModTime(), info.Size()}
		}
	}
	return s
}

// Changed is the time of the latest change to the folder's Go files; zero where there are none.
func Changed(dir string) time.Time {
	var latest time.Time
	for _, v := range look(dir) {
		if v.written.After(latest) {
			latest = v.written
		}
	}
	return latest
}
