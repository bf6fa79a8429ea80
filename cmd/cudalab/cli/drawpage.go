package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"cudalab/grader/desk/progress"
	"cudalab/grader/judge/check"
	"cudalab/grader/suites/course"
)

// drawPage checks once more, for a page with pictures, and writes it into the folder of what is the student's own.
func drawPage(ctx context.Context, q check.Request, terms string) (file string, err error) {
	folder := filepath.Join(q.Root, progress.Folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("the page cannot be written: %w", err)
	}
	e := q.Code[0].Exercise
	file = filepath.Join(folder, e.Name+".html")
	pages, err := openPictures(file, "", []course.Exercise{e})
	if err != nil {
		return "", err
	}
	q.Given, q.Pictures = true, true
	return file, pages.add(0, e.Title, inTerms(terms, check.Exercise(ctx, q)))
}

// browse has the system's own program for pages show one, and does not wait for it.
func browse(file string) error {
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // whatever becomes of it, its file has been named
	return nil
}
