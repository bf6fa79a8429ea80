package intake

import (
	"fmt"
	"slices"
	"strings"
)

// reason is why files are left aside.
type reason int

const (
	extra reason = iota
	links
	nested
	overBounds
	renamedFiles
	reasons
)

// Each is followed by the names.
var reasonWords = [reasons]string{
	extra:        "Left aside, because they belong to no exercise",
	links:        "Left aside, because links and special files are never followed; put the files themselves there",
	nested:       "Left aside, because they are archives inside of archives inside of archives",
	overBounds:   "Left aside, because an exercise may have no more or larger files beside its .go files",
	renamedFiles: "The archive writes names in no encoding that can be known; the bytes are written out in",
}

// notes collects what happened to a submission's files.
type notes struct {
	names [reasons][]string
	list  []string
}

func (n *notes) add(r reason, name string) { n.names[r] = append(n.names[r], name) }

func (n *notes) addf(format string, a ...any) { n.list = append(n.list, fmt.Sprintf(format, a...)) }

func (n *notes) sentences() []string {
	list := n.list
	for r, names := range n.names {
		if len(names) > 0 {
			slices.Sort(names)
			list = append(list, reasonWords[r]+": "+listed(names)+".")
		}
	}
	return list
}

// listed names the first few.
func listed(names []string) string {
	const most = 5
	var shown []string
	for _, name := range names[:min(most, len(names))] {
		shown = append(shown, show(name))
	}
	if more := len(names) - most; more > 0 {
		return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(shown, ", ")
}
