// Enginetest measures the browser's edition in a headless Chromium, served from this machine: how long a student waits,
// what is downloaded, what memory it takes. Its tests hold the engine to what the command line says.
//
//	make browser
//	go run ./grader/proof/enginetest
//	go run ./grader/proof/enginetest -core 0
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"cudalab/grader/proof/browsertest"
	"cudalab/grader/suites/course"
)

func main() {
	runs := flag.Int("runs", 5, "how often all is measured; what is printed are medians")
	core := flag.Int("core", -1, "the one processor that Chromium may use; -1: all")
	lesson := flag.String("lesson", "async-pipeline", "the `exercise` whose solution is checked")
	html := flag.Bool("html", false, "each check makes its page as well")
	flag.Parse()
	if err := measure(*runs, *core, *lesson, *html); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// counted counts what a server sends.
type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	c.sent.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// table are the samples by what they are of, in the order in which they came first.
type table struct {
	names []string
	all   map[string][]float64
}

func (t *table) add(name string, v float64) {
	if t.all[name] == nil {
		t.names = append(t.names, name)
	}
	t.all[name] = append(t.all[name], v)
}

func measure(runs, core int, lesson string, html bool) error {
	c, err := course.Open("")
	if err != nil {
		return err
	}
	e, err := c.Find(lesson)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(c.Root, e.SolutionFolder(), e.Package+".go"))
	if err != nil {
		return err
	}
	var sent atomic.Int64
	site := Site(filepath.Join(c.Root, "bin", "browser"), filepath.Join(c.Root, "grader", "browser", "site", "engine.js"),
		true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site.ServeHTTP(counted{w,
			&sent}, r)
	}))
	defer server.Close()
	var before []string
	if core >= 0 {
		before = []string{"taskset", "-c", strconv.Itoa(core)}
	}
	t := table{all: map[string][]float64{}}
	visit := func(profile, name string, saves int) error {
		sent.Store(0)
		b, err := browsertest.Start(browsertest.Options{Profile: profile, Before: before})
		if err != nil {
			return err
		}
		defer b.Close()
		if err := b.Go(server.URL); err != nil {
			return err
		}
		check := func(what, code string, want string) error {
			request, err := json.Marshal(map[string]any{"exercise": e.Name, "files": map[string]string{e.Package + ".go": code},
				"html": html})
			if err != nil {
				return err
			}
			began := time.Now()
			var status string
			if err := b.Eval(fmt.Sprintf(`engine.check(%s).then(r => r.status)`, request), &status); err != nil {
				return err
			}
			if status != want {
				return fmt.Errorf("%s: it should be %s, but is %s", what, want, status)
			}
			t.add(what+", s", time.Since(began).Seconds())
			return nil
		}
		opened := time.Now()
		if err := b.Eval(`(async () => { const {start} = await import('/engine.js'); window.engine = await start() })()`,
			nil); err != nil {
			return err
		}
		if err := b.Eval(`engine.ready`, nil); err != nil {
			return err
		}
		t.add(name+": page open to everything loaded, s", time.Since(opened).Seconds())
		if err := check(name+": first check", string(text), "passed"); err != nil {
			return err
		}
		t.add(name+": page open to first verdict, s", time.Since(opened).Seconds())
		for i := range saves {
			if err := check(fmt.Sprintf("%s: save %d", name, i+2), string(text)+strings.Repeat("\n", i+1),
				"passed"); err != nil {
				return err
			}
		}
		if err := check(name+": compile error", strings.Replace(string(text), "return ", "retrun ", 1)+"\nvar x int = \"\"\n",
			"build-failed"); err != nil {
			return err
		}
		t.add(name+": downloaded, MB", float64(sent.Load())/1e6)
		t.add(name+": most memory of a process, MB", peak(b.Process())/1e6)
		return nil
	}
	for range runs {
		profile, err := os.MkdirTemp("", "cudalab-figures-")
		if err != nil {
			return err
		}
		err = visit(profile, "fresh profile", 4)
		if err == nil {
			err = visit(profile, "used profile", 1)
		}
		os.RemoveAll(profile)
		if err != nil {
			return err
		}
	}
	for _, name := range t.names {
		v := slices.Clone(t.all[name])
		slices.Sort(v)
		fmt.Printf("%-56s %6.2f   (%.2f to %.2f)\n", name, v[len(v)/2], v[0], v[len(v)-1])
	}
	return nil
}

// peak is the most bytes that any process of a tree has had resident.
func peak(root int) (most float64) {
	parents := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if at != root {
				continue
			}
			text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
					kb, _ := strconv.ParseFloat(f[1], 64)
					most = max(most, kb*1024)
				}
			}
		}
	}
	return most
}
