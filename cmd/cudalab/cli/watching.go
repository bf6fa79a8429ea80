package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"cudalab/grader/desk/cause"
	"cudalab/grader/desk/progress"
	"cudalab/grader/desk/terminal"
	"cudalab/grader/desk/watch"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// watching is a session of `cudalab watch`. Everything happens in run, one thing after the other; only a check works
// beside it.
type watching struct {
	device, editor, format, terms string
	poll                          bool

	screen   screen
	stdout   io.Writer // what the screen writes to, for programs that are lent the terminal
	course   *course.Course
	keyboard *terminal.Keyboard
	check    func(context.Context, course.Exercise) check.Result
	page     func(ctx context.Context, e course.Exercise, seed uint64) (file string, err error)
	ask      func(context.Context, course.Exercise) (cause.Answer, error)

	exercise course.Exercise
	folder   *watch.Folder
	shown    *verdict.Report // the last report on the exercise; nil before the first
	asked    int             // lines of the prompt, where it is the last thing on the screen

	slow    chan struct{}      // has a word where a check has to wait until what is not the student's is compiled
	cancel  context.CancelFunc // ends the check that is running; nil where none is
	done    chan outcome
	again   bool   // check once more when the running check has ended: its result is out of date
	dropped bool   // the running check is of an exercise that was left
	seed    uint64 // that the exercise failed on before the running check
}

// outcome is what a check came to, or the search for the cause of a failure.
type outcome struct {
	result check.Result
	answer *cause.Answer // of a search; nil of a check
	err    error         // of a search
	fault  any           // what it panicked with
	stack  []byte
}

// run watches until the student has had enough or ctx is done.
func (w *watching) run(ctx context.Context, e course.Exercise) error {
	w.done, w.slow = make(chan outcome, 1), make(chan struct{}, 1)
	w.enter(e)
	defer func() { w.folder.Close() }()
	defer w.stop()
	w.greet()
	w.start(ctx)
	pressed := w.keyboard.Pressed
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.folder.Saves:
			w.start(ctx)
		case <-w.slow:
			w.say(compile.Preparing())
		case o := <-w.done:
			w.finish(ctx, o)
		case key, open := <-pressed:
			if !open {
				pressed = nil // nobody is there to press keys; saves are still checked
				continue
			}
			quit, err := w.press(ctx, key)
			if quit || err != nil {
				return err
			}
			w.keyboard.Next()
		}
	}
}

// enter makes e the exercise that is watched.
func (w *watching) enter(e course.Exercise) {
	if w.folder != nil {
		w.folder.Close()
	}
	w.exercise, w.shown = e, nil
	w.folder = watch.Open(filepath.Join(w.course.Root, e.Folder()), w.poll)
	if w.folder.Note != "" {
		w.say(w.folder.Note)
	}
}

// start checks the exercise. A check that is running is of code that has changed since: it is stopped first.
func (w *watching) start(ctx context.Context) {
	if w.cancel != nil {
		w.cancel()
		w.again = true
		return
	}
	w.seed = failingSeed(w.course.Root, w.exercise)
	if w.asked > 0 {
		w.withdraw()
	}
	w.say("Checking " + w.exercise.Name + " …")
	e := w.exercise
	w.begin(ctx, func(ctx context.Context) (o outcome) {
		o.result = w.check(ctx, e)
		return o
	})
}

// why looks for the cause of a failure. A save ends that, as it ends a check.
func (w *watching) why(ctx context.Context) {
	if w.cancel != nil {
		w.say("A check is running: press w again when it has ended.")
		return
	}
	w.say("Trying changes of " + w.exercise.Name + " …")
	e := w.exercise
	w.begin(ctx, func(ctx context.Context) outcome {
		answer, err := w.ask(ctx, e)
		return outcome{answer: &answer, err: err}
	})
}

// begin has work done beside run, which takes what it came to.
func (w *watching) begin(ctx context.Context, work func(context.Context) outcome) {
	ctx, w.cancel = context.WithCancel(ctx)
	w.again, w.dropped = false, false
	go func() {
		var o outcome
		defer func() {
			if o.fault = recover(); o.fault != nil {
				o.stack = debug.Stack()
			}
			w.done <- o
		}()
		o = work(ctx)
	}()
}

// preparing has run say why the check that is running takes long.
func (w *watching) preparing() {
	select {
	case w.slow <- struct{}{}:
	default:
	}
}

// stop ends the check that is running and waits for it: it may have started other programs.
func (w *watching) stop() {
	if w.cancel != nil {
		w.cancel()
		<-w.done
		w.cancel = nil
	}
}

// finish takes what a check came to.
func (w *watching) finish(ctx context.Context, o outcome) {
	w.cancel()
	w.cancel = nil
	if o.fault != nil {
		panic(fmt.Sprintf("%v\n\n%s", o.fault, o.stack)) // here, where the terminal is put right
	}
	if w.again {
		w.start(ctx)
		return
	}
	if w.dropped {
		return
	}
	if o.answer != nil {
		w.answer(o)
		w.prompt()
		return
	}
	w.shown = &o.result.Report
	replayed := w.seed != 0 && w.shown.Seed == w.seed
	if w.shown.Status == verdict.Passed && replayed {
		w.say("It passes with the workloads that it failed on. Now with new ones:")
		w.start(ctx)
		return
	}
	w.clear()
	w.report()
	if w.shown.Status == verdict.Passed {
		w.advance()
	}
	w.prompt()
}

// answer says what a search came to.
func (w *watching) answer(o outcome) {
	if text, unasked := cause.IsUnasked(o.err); unasked {
		w.say(strings.ToUpper(text[:1]) + text[1:])
	} else if o.err != nil {
		w.say("No cause could be looked for: " + o.err.Error() + ".")
	}
	fmt.Fprint(w.screen, o.answer.Text(w.screen.wrap))
}

// advance goes on from an exercise that has passed: to the next that has not, and back to those that were skipped.
func (w *watching) advance() {
	at := w.index()
	remembered := progress.Load(w.course.Root)
	all := w.course.Exercises
	for _, e := range slices.Concat(all[at+1:], all[:at]) {
		if remembered[e.Name].Status != verdict.Passed {
			passed := "\n" + w.exercise.Name + " has passed"
			if w.exercise.HasSolution(w.course.Root) {
				passed += fmt.Sprintf("; `cudalab solution %s` shows how else it may be written", w.exercise.Name)
			}
			w.say(fmt.Sprintf("%s. On to %s: %s.", passed, e.Name, e.Title))
			w.enter(e)
			w.introduce()
			return
		}
	}
	done := "\nAll exercises have passed."
	if w.exercise.HasSolution(w.course.Root) {
		done += " `cudalab solution` shows how they may be written as well."
	}
	w.say(done)
}

func (w *watching) index() int {
	return slices.IndexFunc(w.course.Exercises, func(e course.Exercise) bool { return e.Name == w.exercise.Name })
}

// turn goes so many exercises on, or back.
func (w *watching) turn(by int) {
	to := w.index() + by
	if to < 0 || to >= len(w.course.Exercises) {
		w.say(map[bool]string{true: "This is the first exercise.", false: "This is the last exercise."}[to < 0])
		return
	}
	if w.cancel != nil {
		w.cancel()
		w.again, w.dropped = false, true
	}
	w.enter(w.course.Exercises[to])
	w.clear()
	w.say(w.exercise.Name + ": " + w.exercise.Title + ".")
	w.introduce()
}

// introduce says where an exercise begins that has not been checked in this session.
func (w *watching) introduce() {
	row, err := look(w.course, w.exercise, progress.Load(w.course.Root))
	if err != nil {
		w.say(err.Error())
		return
	}
	if len(row.TODOs) > 0 {
		w.say("Next: write TODO(" + row.TODOs[0] + ") in " + row.at + ". The key l shows the lesson.")
		return
	}
	if row.Last != nil && !row.Edited {
		w.say("The last verdict is: " + state(row, time.Now()) + ". The key r checks it again.")
		return
	}
	w.say(course.Relative(filepath.Join(w.course.Root, w.exercise.Folder())) + " has no gaps left. The key r checks it.")
}

// report shows the last report, and of one that does not fit on the screen what is to be mended first.
func (w *watching) report() {
	if w.format == lineFormat {
		w.lines()
		return
	}
	text, err := reportOn(w.screen, *w.shown, false)
	if room := w.screen.height - promptLines; err == nil && w.screen.height > 0 && strings.Count(text, "\n") > room &&
		errorsIn(*w.shown) > 0 {
		const more = "The key a shows all of the report.\n"
		if text, err = reportOn(w.screen, *w.shown, true); err == nil && strings.Count(text, "\n") > room {
			text, err = firstOn(w.screen, *w.shown, room)
		}
		text += more
	}
	if err != nil {
		text = "The report cannot be shown: " + err.Error() + "\n"
	}
	fmt.Fprint(w.screen, text)
}

// lines shows the last report for a program that reads along.
func (w *watching) lines() {
	err := report.Lines(w.screen, *w.shown, mainFile(w.course, check.Code{Exercise: w.exercise}))
	if err == nil {
		_, err = fmt.Fprintln(w.screen, report.Verdict(*w.shown))
	}
	if err != nil {
		w.say("The report cannot be shown: " + err.Error())
	}
}

// errorsIn counts the errors that a report found, without those that come of others.
func errorsIn(r verdict.Report) int {
	n := 0
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if f.Root() {
				n++
			}
		}
	}
	return n
}

// clear makes room for a report, where the screen is a terminal that can. Its window may have another size by now.
func (w *watching) clear() {
	w.asked = 0
	now := screenOf(w.stdout)
	w.screen.width, w.screen.height = now.width, now.height
	if w.screen.color && w.format != lineFormat {
		fmt.Fprint(w.screen, "\x1b[H\x1b[2J")
		return
	}
	fmt.Fprintln(w.screen)
}

// say writes a sentence or two.
func (w *watching) say(text string) { w.screen.say(text) }

// withdraw takes the prompt off the screen, where that can be done, so that it stands below the latest alone. A blank
// line is what comes before the next.
func (w *watching) withdraw() {
	if w.asked > 0 && w.screen.color {
		fmt.Fprintf(w.screen, "\x1b[%dA\x1b[J", w.asked)
	}
	w.asked = 0
	fmt.Fprintln(w.screen)
}
