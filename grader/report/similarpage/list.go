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
}

// List is every pair of every exercise, the most alike of each first.
func List(exercises []Exercise) document {
	d := document{Schema: 1, Pairs: []listedPair{}}
	for _, e := range exercises {
		d.Threshold = e.Threshold
		for _, p := range e.Result.Pairs {
			d.Pairs = append(d.Pairs, listedPair{e.Name, e.Programs[p.A].ID, e.Programs[p.B].ID, p.ShareA, p.ShareB, p.Tokens})
		}
	}
	return d
}
