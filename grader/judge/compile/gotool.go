package compile

import (
	"context"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// GoVersion is the version of the Go that builds runners of the course at root: "go1.26.8". Its error is an
// *EnvironmentError where there is no Go.
func GoVersion(ctx context.Context, root string) (string, error) {
	tool, env, err := GoCommand(root)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, tool, "env", "GOVERSION")
	cmd.Dir, cmd.Env = root, env
	said, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s env GOVERSION: %w", tool, err)
	}
	return strings.TrimSpace(string(said)), nil
}

// GoCommand is the go command that builds the course at root, and the environment that it runs in. Its error is an
// *EnvironmentError.
func GoCommand(root string) (path string, env []string, err error) {
	path, err = goTool(Course{Root: root})
	return path, environment(""), err
}

// goTool finds the go command.
func goTool(c Course) (string, error) {
	if c.GoTool != "" {
		return c.GoTool, nil
	}
	if !hasGo {
		return "", nil
	}
	if tool, err := exec.LookPath("go"); err == nil {
		return filepath.Abs(tool)
	}
	// A batch system's or an editor's PATH often lacks what the shell's has.
	usual := "/usr/local/go/bin/go"
	if runtime.GOOS == "windows" {
		usual = `C:\Program Files\Go\bin\go.exe`
	}
	if _, err := os.Stat(usual); err == nil {
		return usual, nil
	}
	return "", &EnvironmentError{
		Problem: "cudalab needs Go to compile the exercises, and there is no go command in PATH.",
		Fix:     install(c.Root),
	}
}

// install says how the Go that a course needs comes onto this system.
func install(root string) string {
	how := "unpack the archive from https://go.dev/dl into /usr/local and add /usr/local/go/bin to PATH, because a " +
		"distribution's package may be older."
	switch runtime.GOOS {
	case "windows":
		how = "`winget install GoLang.Go` does it, or the installer from https://go.dev/dl."
	case "darwin":
		how = "`brew install go` does it, or the package from https://go.dev/dl."
	}
	return fmt.Sprintf("Install Go %s or newer: %s Open a new terminal then, and see that `go version` answers.",
		goNeeded(root), how)
}

// CheckGo says, with an *EnvironmentError, if there is no Go, or one that is too old for the course at root.
func CheckGo(ctx context.Context, root string) error {
	tool, env, err := GoCommand(root)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, tool, "env", "GOVERSION")
	cmd.Env = env // not in the course, whose go.mod an old Go may refuse
	cmd.Dir = os.TempDir()
	said, err := cmd.Output()
	found := strings.TrimSpace(string(said))
	switch {
	case err != nil:
		return &EnvironmentError{fmt.Sprintf("%s does not work: %v.", tool, err), install(root)}
	case version.IsValid(found) && version.Compare(found, "go"+goNeeded(root)) < 0:
		return tooOldGo(root, tool, "it is "+strings.TrimPrefix(found, "go"))
	}
	return nil
}

func tooOldGo(root, tool, found string) error {
	return &EnvironmentError{
		Problem: fmt.Sprintf("The course needs Go %s or newer; there is %s, and %s.", goNeeded(root), tool, found),
		Fix:     install(root),
	}
}

// tooOld are the words with which releases of Go turn down a module that is newer than they are.
var tooOld = regexp.MustCompile(`requires go >= |module requires Go |invalid go version |toolchain not available`)

// outdated is the error behind go build's output if that says that Go is too old for the course, else nil.
func outdated(ctx context.Context, c Course, tool string, output []byte) error {
	if !tooOld.Match(output) {
		return nil
	}
	found := "it is too old"
	if said, err := exec.CommandContext(ctx, tool, "version").Output(); err == nil {
		if fields := strings.Fields(string(said)); len(fields) > 2 {
			found = "it is " + strings.TrimPrefix(fields[2], "go")
		}
	}
	return tooOldGo(c.Root, tool, found)
}

var goDirective = regexp.MustCompile(`(?m)^go (\S+)`)

// goNeeded is the version of Go that the course's go.mod asks for.
func goNeeded(root string) string {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if m := goDirective.FindSubmatch(text); err == nil && m != nil {
		return string(m[1])
	}
	return "1.26"
}

// decided are the variables that environment sets itself, or that must not reach go build: they would change what is
// built, or for which machine.
var decided = []string{
	"CGO_ENABLED", "GO111MODULE", "GOARCH", "GODEBUG", "GOEXPERIMENT", "GOFLAGS", "GOGC", "GOMEMLIMIT", "GOOS", "GOROOT",
	"GOTOOLCHAIN", "GOWORK",
	// By it Go would call the course's files by the path of a link that the working directory was reached through, and the
	// overlay has their real paths.
	"PWD",
}

// environment is what go build runs in: the user's own, less what would surprise. A fallback is a folder for Go's
// caches, for a user who has no writable one.
func environment(fallback string) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains(decided, strings.ToUpper(name)) {
			env = append(env, v)
		}
	}
	// GOFLAGS is never empty, because go would then take the one that `go env -w` left.
	flags := []string{"-buildvcs=false"}
	for flag := range strings.FieldsSeq(os.Getenv("GOFLAGS")) {
		if strings.HasPrefix(flag, "-mod=") || strings.HasPrefix(flag, "-p=") {
			flags = append(flags, flag)
		}
	}
	env = append(env, "CGO_ENABLED=0", "GO111MODULE=on", "GOARCH="+runtime.GOARCH, "GOFLAGS="+strings.Join(flags, " "),
		"GOOS="+runtime.GOOS, "GOTOOLCHAIN=local", "GOWORK=off")
	if fallback != "" && os.Getenv("GOCACHE") == "" {
		env = append(env, "GOCACHE="+filepath.Join(fallback, "go-build"))
	}
	if _, err := os.UserHomeDir(); err != nil && fallback != "" && os.Getenv("GOPATH") == "" {
		env = append(env, "GOPATH="+filepath.Join(fallback, "go"))
	}
	return env
}
