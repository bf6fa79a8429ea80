package cli

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// servePage serves the class's page, and nothing else of the results, until stop. Whoever knows the address may read
// it: there is a token in it that nobody can guess.
func servePage(cmd *cobra.Command, dir, address string) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, usage("nothing can be served at %s: %v. An address is HOST:PORT, or :PORT for all networks of this "+
			"machine.", address, err)
	}
	token := rand.Text()
	urls := addresses(listener.Addr().(*net.TCPAddr))
	out := screenOf(cmd.ErrOrStderr())
	for _, url := range urls {
		out.say("The class's page is at " + url + token + "/ while this runs. Give the address to nobody who is not to see " +
			"names and grades.")
	}
	server := &http.Server{Handler: &pageHandler{filepath.Join(dir, "report.html"), token, hosts(urls)},
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() { _ = server.Serve(listener) }() // it ends with stop
	return func() { _ = server.Close() }, nil
}

// hosts are those of URLs, with their ports.
func hosts(urls []string) []string {
	var all []string
	for _, url := range urls {
		all = append(all, strings.Trim(strings.TrimPrefix(url, "http:"), "/"))
	}
	return all
}

// pageHandler serves one file below a token.
type pageHandler struct {
	file, token string
	hosts       []string // by which it may be asked: another name that leads here may be somebody else's site
}

func (p *pageHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "+
		"frame-ancestors 'none'")
	switch {
	case !slices.Contains(p.hosts, r.Host):
		http.Error(w, "This page is not served under that name.", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "This page can only be read.", http.StatusMethodNotAllowed)
	case subtle.ConstantTimeCompare([]byte(r.URL.Path), []byte("/"+p.token+"/")) != 1:
		http.Error(w, "There is nothing here. The address of the class's page is where grading was started.",
			http.StatusNotFound)
	default:
		text, err := os.ReadFile(p.file)
		if err != nil {
			h.Set("Refresh", "3")
			http.Error(w, "Nothing is graded yet.", http.StatusServiceUnavailable)
			return
		}
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text) // a reader who has gone needs no answer
	}
}
