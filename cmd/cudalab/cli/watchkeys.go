package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cudalab/grader/desk/hints"
	"cudalab/grader/desk/markdown"
	"cudalab/grader/desk/terminal"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

const allKeys = `h  hint: the next one for the gap you are at, or for what the check found
w  why: look for the line where one change is enough, then a step further each time
a  all: the whole report of the last check
l  lesson: the exercise's chapter
o  open: the line of the first error, or the first gap, in your editor
v  view: a page with pictures of what your streams and memory did, in your browser
r  run: check once more
n  next exercise (s does the same)
p  previous exercise
q  quit
`

// press carries a key out.
func (w *watching) press(ctx context.Context, key rune) (quit bool, err error) {
	w.withdraw()
	switch key {
	case 'h':
		err = w.hint(ctx)
	case 'w':
		w.why(ctx)
		return false, nil
	case 'a':
		err = w.all(ctx)
	case 'l':
		err = w.lesson(ctx)
	case 'o':
		w.open()
	case 'v':
		w.view(ctx)
	case 'r':
		w.start(ctx)
		return false, nil
	case 'n', 's':
		w.turn(+1)
	case 'p':
		w.turn(-1)
	case 'q', terminal.CtrlD:
		return true, nil
	case terminal.CtrlC:
		return true, &exitError{status: exitInterrupted}
	case '?':
		fmt.Fprint(w.screen, allKeys)
	case ' ', '\r', '\n', '\t', terminal.Left, terminal.Right: // people make room like this
	default:
		w.say(fmt.Sprintf("There is no key %q; ? lists those that there are.", key))
	}
	w.prompt()
	return false, err
}

// greet says what goes on, once.
func (w *watching) greet() {
	w.say(fmt.Sprintf("Watching %s: save a file and it is checked.", course.Relative(filepath.Join(w.course.Root,
		w.exercise.Folder()))))
	if !w.keyboard.Single() {
		w.say("Type a letter and Enter: h hint, l lesson, o open, r run, n next, q quit, ? all keys.")
	}
}

// promptLines is how much of the screen the prompt takes, and the line about the key a.
const promptLines = 4

// prompt reminds of the exercise and of the keys, below whatever was shown last.
func (w *watching) prompt() {
	if !w.keyboard.Single() {
		return
	}
	text := fmt.Sprintf("\n%s (%d of %d) is checked when you save.\nh hint · l lesson · o open · n next · q quit · ? keys",
		w.exercise.Name, w.index()+1, len(w.course.Exercises))
	w.say(text)
	w.asked = len(w.screen.wrap(text))
}

func (w *watching) hint(ctx context.Context) error {
	h, err := hints.Next(ctx, w.course.Root, w.exercise, "")
	if nothing := (*hints.Nothing)(nil); errors.As(err, &nothing) {
		w.say(nothing.Error())
		return nil
	}
	if err != nil {
		w.say("There is no hint: " + err.Error() + ".")
		return nil
	}
	return w.screen.markdown(h.Markdown(w.exercise.Name))
}

// all shows the last report in full, from its beginning.
func (w *watching) all(ctx context.Context) error {
	if w.shown == nil {
		w.say(w.exercise.Name + " has not been checked since you came to it. The key r checks it.")
		return nil
	}
	text, err := reportOn(w.screen, *w.shown, false)
	if err != nil || !w.keyboard.Single() {
		fmt.Fprint(w.screen, text)
		return err
	}
	return w.keyboard.Lend(func() error { return markdown.Show(ctx, screenOf(w.stdout).Writer, text) })
}

func (w *watching) lesson(ctx context.Context) error {
	return w.keyboard.Lend(func() error { return screenOf(w.stdout).lesson(ctx, w.course.Root, w.exercise, false) })
}

// view draws the page of the last report, of the same workloads, and has it opened.
func (w *watching) view(ctx context.Context) {
	if w.shown == nil || w.cancel != nil {
		w.say("The page comes when the check has ended: press v again then.")
		return
	}
	w.say("Drawing " + w.exercise.Name + " …")
	file, err := w.page(ctx, w.exercise, w.shown.Seed)
	if err != nil {
		w.say("There is no page: " + err.Error() + ".")
		return
	}
	short := course.Relative(file)
	if err := browse(file); err != nil {
		w.say("No program that shows pages was found. Open " + short + " in your browser.")
		return
	}
	w.say("The page is " + short + ".")
}

// open opens an editor at what is to be mended or written next. An editor without a window has the terminal until it
// ends.
func (w *watching) open() {
	e, known := terminal.Chosen(w.editor)
	if !known {
		w.say("No editor is known: set EDITOR, or start with --edit-cmd.")
		return
	}
	command := e.Command(w.place())
	var err error
	if e.Windowed() {
		if err = command.Start(); err == nil {
			go command.Wait() // its exit status is between the student and the editor
		}
	} else {
		command.Stdin, command.Stdout, command.Stderr = os.Stdin, w.stdout, os.Stderr
		err = w.keyboard.Lend(command.Run)
	}
	if err != nil {
		w.say(fmt.Sprintf("%s did not open it: %v.", strings.Join(command.Args, " "), err))
	}
}

// place is the first error of the last report that comes of no other, else its first remark, else the first gap, else
// the beginning of the exercise.
func (w *watching) place() (file string, line int) {
	if w.shown != nil {
		for _, c := range w.shown.Checks {
			for _, f := range c.Findings {
				if f.File != "" && f.Root() {
					return f.File, f.Line
				}
				if f.File != "" && f.Severity == verdict.Remark && file == "" {
					file, line = f.File, f.Line
				}
			}
		}
		if file != "" {
			return file, line
		}
	}
	dir := course.Relative(filepath.Join(w.course.Root, w.exercise.Folder()))
	if left, err := gaps.Find(dir); err == nil && len(left) > 0 {
		return left[0].File, left[0].Line
	}
	return filepath.Join(dir, w.exercise.Package+".go"), 1
}
