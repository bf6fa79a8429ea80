package report

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// link makes text a link to a file, in the way that terminals call OSC 8. There is no common way to say the line; kitty
// hands the fragment on to the editor, and others might not find a file with one.
func link(file string, line int, text string) string {
	path, err := filepath.Abs(file)
	if err != nil {
		return text
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/course becomes file://host/C:/course
	}
	to := url.URL{Scheme: "file", Path: path}
	// A terminal on another machine must not take the path for one of its own.
	to.Host, _ = os.Hostname()
	if os.Getenv("KITTY_WINDOW_ID") != "" && line > 0 {
		to.Fragment = fmt.Sprint(line)
	}
	return "\x1b]8;;" + to.String() + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}
