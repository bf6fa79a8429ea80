package intake

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// gradescopeNames are the files in which a Gradescope export tells who handed in what.
var gradescopeNames = []string{"submission_metadata.yml", "submission_metadata.yaml"}

func isMetadata(c *child) bool { return !c.folder && slices.Contains(gradescopeNames, c.name) }

// maxMetadata bounds that file, in bytes: it also holds what the autograder has said to everyone.
const maxMetadata = 64 << 20

// metadata is what Gradescope tells of the folders of its export. The file is YAML: for each folder the submitters,
// several in a group, with :name, :sid and :email, when they handed in, and the history of what they handed in before.
//
// Source: what "Download Submissions" of a programming assignment gives; gradescope/autograder_samples describes the
// same fields as submission_metadata.json.
type metadata struct {
	of   map[string]told // by the folder's name
	seen map[string]bool
}

// told is what is said of one folder.
type told struct {
	people []Person
	moment Moment
}

// metadata reads that file, where there is one.
func (c *students) metadata(kids []*child) *metadata {
	m := &metadata{of: map[string]told{}, seen: map[string]bool{}}
	for _, k := range kids {
		if !isMetadata(k) || k.entry.load == nil {
			continue
		}
		c.form = "submissions exported from Gradescope"
		text, err := k.entry.load(maxMetadata + 1)
		switch {
		case err != nil:
			c.attention = append(c.attention, fmt.Sprintf("Who is who cannot be told, because %s could not be read. %v", k.name,
				err))
			continue
		case len(text) > maxMetadata:
			c.attention = append(c.attention, fmt.Sprintf("Who is who cannot be told, because %s has more than %d MiB.", k.name,
				maxMetadata>>20))
			continue
		}
		if err := m.read(text); err != nil {
			c.attention = append(c.attention,
				fmt.Sprintf("Who is who cannot be told from %s: it is not laid out as Gradescope does. "+
					"Export the submissions anew, or name the students with --roster.", k.name))
		}
	}
	return m
}

func (m *metadata) read(text []byte) (err error) {
	defer func() {
		if v := recover(); v != nil { // whatever a parser of YAML may do with what strangers wrote into it
			err = fmt.Errorf("it cannot be read: %v", v)
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return fmt.Errorf("it is no list of submissions")
	}
	for name, submission := range pairs(doc.Content[0]) {
		var t told
		for key, value := range pairs(submission) {
			switch key {
			case "submitters":
				for _, each := range value.Content {
					if p := submitter(each); p != (Person{}) {
						t.people = append(t.people, p)
					}
				}
			case "created_at":
				t.moment.Time = timestamp(value.Value)
			case "history":
				if n := len(value.Content); value.Kind == yaml.SequenceNode && n > 0 {
					t.moment.Attempt, t.moment.Of = n+1, n+1
				}
			}
		}
		m.of[name] = t
	}
	return nil
}

// pairs are the keys and values of a mapping, keys without the colon that Ruby's symbols begin with.
func pairs(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(strings.TrimPrefix(n.Content[i].Value, ":"), n.Content[i+1]) {
				return
			}
		}
	}
}

func submitter(n *yaml.Node) (p Person) {
	for key, value := range pairs(n) {
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			continue
		}
		text := oneLine(value.Value)
		switch key {
		case "name":
			p.Name = text
		case "sid":
			p.SID = text
		case "email":
			p.Email = text
		}
	}
	return p
}

// oneLine is a text in one line, as people's names and numbers are.
func oneLine(text string) string {
	text, _ = validUTF8(text)
	return strings.Join(strings.Fields(text), " ")
}

// timestamp is a time as Moment has it: Gradescope's are "2026-09-01 12:00:00.123456000 Z", or with "T" and a zone.
func timestamp(text string) string {
	for _, layout := range []string{"2006-01-02 15:04:05.999999999 Z", "2006-01-02 15:04:05.999999999 -07:00",
		"2006-01-02T15:04:05.999999999Z07:00"} {
		if t, err := parseTime(layout, text); err == nil {
			return t
		}
	}
	return ""
}

// tell gives a folder's unit what is said of it.
func (m *metadata) tell(u *unit) {
	t, ok := m.of[u.from]
	if len(m.of) == 0 {
		return
	}
	m.seen[u.from] = true
	if !ok || len(t.people) == 0 {
		u.attention = append(u.attention, "Who handed this in is not told by Gradescope's submission_metadata.yml.")
		return
	}
	u.people, u.moment = t.people, t.moment
	number := strings.TrimPrefix(u.name, "submission_")
	var names []string
	for _, p := range t.people {
		if p.Name != "" {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	// A submission's number is another one each time somebody hands in; a student's stays.
	if t.people[0].SID != "" {
		number = t.people[0].SID
	}
	u.name = shorten(strings.Join(names, " and "), maxID-1-len(number)) + "_" + number
}

// missing names submissions that are told of but not there.
func (m *metadata) missing(c *students) {
	var names []string
	for name := range m.of {
		if !m.seen[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		c.attention = append(c.attention,
			fmt.Sprintf("Gradescope's submission_metadata.yml tells of submissions that are not in the export: %s.",
				listed(names)))
	}
}
