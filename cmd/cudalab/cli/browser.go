package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cudalab/grader/browser/build"
	"cudalab/grader/browser/serve"
	"cudalab/grader/browser/site"
	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

func newBrowser() *cobra.Command {
	address := ""
	cmd := &cobra.Command{
		Use:   "browser [DIR]",
		Short: "Make the course a web site, on which it runs in a browser with nothing installed",
		Long: `Browser writes the whole course as a web site into the folder DIR, by default bin/browser in the course: chapters, an editor,
and the checks, which run in the browser itself on the simulated device. Any host of static files can serve it, under any
path. Building it takes some minutes and the Go of this machine.

--serve serves the site from this machine, to a class in a room for example; it builds it first where there is none in DIR.
ADDRESS is HOST:PORT, or :PORT for all networks of this machine. It serves files and takes nothing: students' code stays in
their browsers. Over plain HTTP browsers do not keep the site for visits without a network, except on this machine itself.`,
		Example: `  cudalab browser
  cudalab browser --serve :8080`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("name one folder for the site at most: cudalab browser DIR.")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			dir := filepath.Join(c.Root, "bin", "browser")
			if len(args) == 1 {
				dir = args[0]
			}
			if address == "" {
				return writeSite(cmd, c, dir)
			}
			if _, err := os.Stat(filepath.Join(dir, "sw.js")); err != nil {
				if err := writeSite(cmd, c, dir); err != nil {
					return err
				}
			} else if err := site.Whole(dir); err != nil {
				return &exitError{exitEnvironment, fmt.Sprintf("the site in %s is not whole: %v. Its build was interrupted, or a "+
					"file was lost or changed since, and students could not use it: `cudalab browser %[1]s` builds it again.",
					dir, err)}
			}
			return serveSite(cmd, dir, address)
		},
	}
	cmd.Flags().StringVar(&address, "serve", "", "serve the site at `ADDRESS`, such as :8080, until Ctrl-C")
	return cmd
}

// writeSite writes the site of a course into a folder, and says how large it is.
func writeSite(cmd *cobra.Command, c *course.Course, dir string) error {
	out, began, step := screenOf(cmd.ErrOrStderr()), time.Now(), 0
	out.say("The course is built for browsers, with Go's compiler and linker. That takes two to five minutes.")
	err := makeSite(cmd.Context(), c, dir, func(what string) {
		step++
		out.say(fmt.Sprintf("%4.0f s  %d of %d: %s", time.Since(began).Seconds(), step, build.Steps+1, what))
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "The course is in %s, as a site that any host of static files can serve.\n"+
		"`cudalab browser --serve :8080` serves it from here.\n", filepath.ToSlash(course.Relative(dir)))
	return nil
}

// makeSite writes the site of a course into a folder, and tells of each step.
func makeSite(ctx context.Context, c *course.Course, dir string, tell func(step string)) error {
	err := fromSource(c, "the site")
	if err == nil {
		err = vacantForSite(dir)
	}
	if err == nil {
		err = site.Write(c, dir)
	}
	if err == nil {
		err = build.Write(ctx, c, dir, site.Engine(), tell)
	}
	if err == nil {
		tell("the list of its files, for visits without a network")
		err = site.Seal(ctx, dir)
	}
	var environment *compile.EnvironmentError
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*exitError)):
		return err
	case errors.As(err, &environment):
		return &exitError{exitEnvironment, environment.Error()}
	}
	return &exitError{exitEnvironment, fmt.Sprintf("the site could not be written: %v.", err)}
}

// vacantForSite refuses a folder that holds something else than a site.
func vacantForSite(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return usage("the folder for the site cannot be read: %v.", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "course.json")); err != nil {
		return usage("%s is not empty, and holds no site of an earlier build: name an empty folder, or one that is not "+
			"there yet.", dir)
	}
	return nil
}

// serveSite serves a site until the command is interrupted.
func serveSite(cmd *cobra.Command, dir, address string) error {
	files, err := os.OpenRoot(dir)
	if err != nil {
		return usage("the site cannot be read: %v.", err)
	}
	defer files.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return usage("nothing can be served at %s: %v. An address is HOST:PORT, or :PORT for all networks of this machine.",
			address, err)
	}
	out := screenOf(cmd.OutOrStdout())
	for _, url := range addresses(listener.Addr().(*net.TCPAddr)) {
		out.say("The course is at " + url)
	}
	out.say("Ctrl-C ends it.")
	server := &http.Server{Handler: serve.Handler(files.FS()), ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return &exitError{exitEnvironment, fmt.Sprintf("serving ended: %v.", err)}
	case <-cmd.Context().Done():
		return server.Close()
	}
}

// addresses are the URLs of what listens at an address: where that is every network, one for each that this machine is
// in.
func addresses(a *net.TCPAddr) []string {
	url := func(host string) string { return fmt.Sprintf("http://%s/", net.JoinHostPort(host, fmt.Sprint(a.Port))) }
	if !a.IP.IsUnspecified() {
		return []string{url(a.IP.String())}
	}
	urls := []string{url("localhost")}
	networks, _ := net.InterfaceAddrs() // without them there is still localhost
	for _, n := range networks {
		if ip, ok := n.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			urls = append(urls, url(ip.IP.String()))
		}
	}
	return urls
}
