package similarpage

// listedPair is one pair as similar.json lists it.
type listedPair struct {
	Exercise string  `json:"exercise"`
	A        string  `json:"a"`
	B        string  `json:"b"`
	ShareA   float64 `json:"share_of_a"` // of a's own tokens, how many b has as well
	ShareB   float64 `json:"share_of_b"`
	Tokens   int     `json:"tokens"`
}

// document is similar.json. Fields are only ever added within one schema.
type document struct {
	Schema    int          `json:"schema"`
	Threshold float64      `json:"threshold"`
	Pairs     []listedPair `json:"pairs"`
	// Shared is text that too many have for pairs of them to be listed.
	Shared     []listedShared   `json:"shared"`
	AsSolution []listedSolution `json:"as_solution"`
}

// listedShared is text that many programs have.
type listedShared struct {
	Exercise string          `json:"exercise"`
	Programs []string        `json:"programs"`
	Tokens   int             `json:"tokens"`
	Of       string          `json:"of"` // the program in which the passages are
	Passages []listedPassage `json:"passages"`
}

type listedPassage struct {
	File   string `json:"file"`
	First  int    `json:"first_line"`
	Last   int    `json:"last_line"`
	Tokens int    `json:"tokens"`
	In     int    `json:"in"` // programs
}

// listedSolution is a program that is much the solution's text.
type listedSolution struct {
	Exercise string `json:"exercise"`
	Program  string `json:"program"`
	Tokens   int    `json:"tokens"` // that the solution has as well
	Own      int    `json:"own"`
}

// List is all that was found in every exercise, of each the most alike first.
func List(exercises []Exercise) document {
	d := document{Schema: 1, Pairs: []listedPair{}, Shared: []listedShared{}, AsSolution: []listedSolution{}}
	for _, e := range exercises {
		d.Threshold = e.Threshold
		for _, p := range e.Result.Pairs {
			d.Pairs = append(d.Pairs, listedPair{e.Name, e.Programs[p.A].ID, e.Programs[p.B].ID, p.ShareA, p.ShareB, p.Tokens})
		}
		for _, s := range e.Shared {
			l := listedShared{Exercise: e.Name, Tokens: s.Tokens, Of: e.Programs[s.Of].ID}
			for _, i := range s.In {
				l.Programs = append(l.Programs, e.Programs[i].ID)
			}
			for _, p := range s.Passages {
				l.Passages = append(l.Passages, listedPassage{e.Programs[s.Of].Files[p.File].Name, p.First, p.Last, p.Tokens, p.In})
			}
			d.Shared = append(d.Shared, l)
		}
		for _, p := range e.Programs {
			if p.AsSolution() {
				d.AsSolution = append(d.AsSolution, listedSolution{e.Name, p.ID, p.Solution, p.Own})
			}
		}
	}
	return d
}
