package intake

import (
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// exporters make the export of a class.
var exporters = []struct {
	name   string
	unique bool
	export func(t testing.TB, r *rand.Rand, class []handed) tree
}{
	{"canvas", false, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for i, h := range class {
			who := strings.Map(func(r rune) rune {
				if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
					return r
				}
				return -1
			}, strings.ToLower(h.name))
			who = regexp.MustCompile(`_\d+$`).ReplaceAllString(who, "")
			if who = regexp.MustCompile(`_(\d+)_`).ReplaceAllString(who, "$1"); who == "" {
				who = "x"
			}
			who += map[bool]string{true: "_LATE"}[h.late] + fmt.Sprintf("_%d", 1000+i)
			for name, text := range h.packed(t, r) {
				out[fmt.Sprintf("%s_%d_%s", who, r.IntN(1e9), canvasAgain(r, name))] = text
			}
			if r.IntN(5) == 0 {
				out[who+"_text.html"] = "<p>"
			}
		}
		return out
	}},
	{"moodle", false, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		old := map[bool]string{true: "_"}[r.IntN(2) == 0]
		for i, h := range class {
			who := clean(strings.ReplaceAll(h.name, "_", " "))
			for name, text := range h.packed(t, r) {
				out[fmt.Sprintf("%s_%d_assignsubmission_file%s/%s", who, 500+i, old, name)] = text
			}
			if r.IntN(5) == 0 {
				out[fmt.Sprintf("%s_%d_assignsubmission_onlinetext%s/onlinetext.html", who, 500+i, old)] = "<p>"
			}
		}
		return out
	}},
	{"moodle without folders", false, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for i, h := range class {
			for name, text := range h.packed(t, r) {
				out[fmt.Sprintf("%s_%d_assignsubmission_file_%s", clean(strings.ReplaceAll(h.name, "_", " ")), 500+i, name)] = text
			}
		}
		return out
	}},
	{"blackboard", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		summaries := r.IntN(2) == 0
		for _, h := range class {
			for attempt := range 1 + r.IntN(3) {
				before := fmt.Sprintf("gradebook_CS-101_Lab20_1_%s_attempt_2026-09-%02d-23-59-59", clean(h.name), 28-attempt)
				if summaries {
					out[before+".txt"] = fmt.Sprintf("Name: Some One (%s)\nAssignment: Lab\n", clean(h.name))
				}
				for name, text := range h.packed(t, r) {
					if attempt > 0 {
						text = "package slab\n\n// an earlier attempt\n"
						name = "slab.go"
					}
					out[before+"_"+name] = text
				}
			}
		}
		return out
	}},
	{"gradescope", false, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		var b strings.Builder
		b.WriteString("---\n")
		for i, h := range class {
			folder := fmt.Sprintf("submission_%d", 7000+i)
			fmt.Fprintf(&b, "%s:\n  :submitters:\n  - :name: %q\n    :sid: '%d'\n    :email: s%d@x.edu\n", folder,
				strings.ReplaceAll(h.name, "\U0001F600", ":-)"), 100+i, i)
			if r.IntN(4) == 0 {
				fmt.Fprintf(&b, "  - :name: Partner %d\n    :sid: '%d'\n    :email: p%d@x.edu\n", i, 300+i, i)
			}
			b.WriteString("  :created_at: 2026-09-01 12:00:00.123456000 Z\n  :score: 0.0\n  :results:\n    tests:\n    - " +
				"name: x\n      :name: not a person\n")
			for name, text := range h.packed(t, r) {
				out[folder+"/"+name] = text
			}
		}
		out["submission_metadata.yml"] = b.String()
		return out
	}},
	{"github classroom", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for _, h := range class {
			repo := "lab-1-" + clean(h.name) + "/"
			out[repo+".git/config"] = "x"
			for _, f := range h.files {
				out[repo+"exercises/"+f.pkg+"/"+f.name] = f.text
			}
		}
		return out
	}},
	{"google classroom", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for _, h := range class {
			for name, text := range h.packed(t, r) {
				out[clean(h.name)+"/"+name] = text
			}
		}
		return out
	}},
	{"flat files", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		between := []string{"_", "-", " - "}[r.IntN(3)]
		for _, h := range class {
			for _, f := range h.files {
				out[clean(h.name)+between+f.name] = f.text
			}
		}
		return out
	}},
	{"an archive for each", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for _, h := range class {
			out[clean(h.name)+".zip"] = tree(h.packed(t, r)).zip(t)
		}
		return out
	}},
	{inSections, true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for i, h := range class {
			for _, f := range h.files {
				out[fmt.Sprintf("section %c/%s/%s/%s", 'A'+i%3, clean(h.name), f.pkg, f.name)] = f.text
			}
		}
		return out
	}},
	{"brightspace", false, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{"index.html": "<p>"}
		dates := []string{"Sep %d, 2026 1053 PM", "%d September 2026 612 PM", "%d sept. 2026 18 h 12"}
		date := dates[r.IntN(len(dates))]
		for i, h := range class {
			who := strings.ReplaceAll(clean(h.name), "_", " ")
			folder := fmt.Sprintf("%d-46025 - s%d %s - "+date+"/", 27000+i, 100+i, who, 20)
			for name, text := range h.packed(t, r) {
				out[folder+name] = text
			}
			if date != dates[2] && r.IntN(3) == 0 {
				out[fmt.Sprintf("%d-46025 - s%d %s - "+date+"/slab.go", 27000+i, 100+i, who, 9)] = "package slab\n\n// an " +
					"earlier attempt\n"
			}
		}
		return out
	}},
	{"autolab", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for i, h := range class {
			for version := range 1 + r.IntN(11) {
				text := tree{"slab.go": "package slab\n\n// an earlier attempt\n"}
				if version == 0 {
					text = tree{}
					for _, f := range h.files {
						text[f.pkg+"/"+f.name] = f.text
					}
				}
				out[fmt.Sprintf("s%d_x@cs.x.edu_%d_handin.zip", i, 12-version)] = text.zip(t)
			}
		}
		return out
	}},
	{"sakai", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{"grades.csv": "x"}
		for i, h := range class {
			who := strings.NewReplacer(",", "", "(", "", ")", "").Replace(clean(h.name))
			folder := fmt.Sprintf("%s, Ada(s%d)/", who, 100+i)
			out[folder+"timestamp.txt"] = "20260901120000000"
			out[folder+"comments.txt"] = ""
			for name, text := range h.packed(t, r) {
				out[folder+"Submission attachment(s)/"+name] = text
			}
			if r.IntN(4) == 0 {
				out[folder+"Feedback Attachment(s)/slab.go"] = "package slab\n\n// the instructor's\n"
			}
		}
		return out
	}},
	{"ilias", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for i, h := range class {
			who := regexp.MustCompile(`[^A-Za-z0-9. -]`).ReplaceAllString(h.name, "")
			for name, text := range h.packed(t, r) {
				out[fmt.Sprintf("Lovelace_x%s_s%d_%d/%s", who, 100+i, 4000+i, name)] = text
			}
		}
		return out
	}},
	{"teams", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for _, h := range class {
			for _, f := range h.files {
				for version := range 1 + r.IntN(3) {
					text := "package " + f.pkg + "\n\n// an earlier attempt\n"
					if version == 0 {
						text = f.text
					}
					out[fmt.Sprintf("Submitted files/%s/Lab 1/Version %d/%s", clean(h.name), 11-version, f.pkg+"/"+f.name)] = text
				}
			}
			out["Working files/"+clean(h.name)+"/Lab 1/slab.go"] = "package slab\n\n// still at work\n"
		}
		return out
	}},
	{"exercises with students in them", true, func(t testing.TB, r *rand.Rand, class []handed) tree {
		out := tree{}
		for _, h := range class {
			for _, f := range h.files {
				out[fmt.Sprintf("%s/%s/%s", f.pkg, clean(h.name), f.name)] = f.text
			}
		}
		return out
	}},
}

// A section is told from one student's folder by students who have handed in the same. Where there are few of them, or
// some are called as an exercise is, it cannot be told, and a person is asked.
const (
	inSections    = "sections"
	fewInSections = 24
)

// clean is a name as a folder of every platform can have it.
func clean(name string) string { return strings.NewReplacer("/", "", "\t", " ").Replace(name) }

func canvasAgain(r *rand.Rand, name string) string {
	if ext := path.Ext(name); r.IntN(4) == 0 && ext == ".go" {
		return strings.TrimSuffix(name, ext) + "-1" + ext
	}
	return name
}
