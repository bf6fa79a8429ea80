package poolconfig

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// lent is one call of Keep or Lend as the trace shows it.
type lent struct {
	*suite.Made[loan]
	pools []trace.ID // by their numbers in the workload
	looks []looking  // what was asked in work, and when all was over
}

// looking is what was asked of the pools at one time.
type looking struct {
	at         int // the record ahead of the first question
	current    trace.ID
	attributes map[poolAttr]uint64
}

// poolAttr is an attribute of a pool.
type poolAttr struct {
	pool trace.ID
	attr device.PoolAttr
}

// followLoan goes through the records of a call.
func followLoan(m *suite.Made[loan]) *lent {
	c := &lent{Made: m, pools: []trace.ID{0}}
	for at := m.Set; at < m.From; at++ {
		if r := m.Record(at); r.Op == trace.OpMemPoolCreate {
			c.pools = append(c.pools, r.Pool)
		}
	}
	records := m.Notes.Trace.Records
	for _, back := range m.Callbacks() {
		c.looks = append(c.looks, lookedAt(records, back.From-1, back.To))
	}
	end := slices.IndexFunc(records[m.To:], func(r trace.Record) bool {
		return r.Op == trace.OpMark && r.Label == markLeft
	})
	c.looks = append(c.looks, lookedAt(records, m.To-1, m.To+max(end, 0)))
	return c
}

// lookedAt gathers the questions in the records behind from up to to. What work goes on to do changes no threshold, and
// the current pool only behind the question for it.
func lookedAt(records []trace.Record, from, to int) looking {
	l := looking{at: from, attributes: map[poolAttr]uint64{}}
	for i := from + 1; i < to; i++ {
		switch r := &records[i]; {
		case r.Op == trace.OpDeviceGetMemPool:
			l.current = r.Pool
		case r.Op == trace.OpMemPoolGetAttribute && r.Code == 0:
			l.attributes[poolAttr{r.Pool, device.PoolAttr(r.Attr)}] = r.Value
		}
	}
	return l
}

// finding is one about a function as a whole where it is about no call of CUDA's.
func (c *lent) finding(function string, at int, r suite.Rule, format string, args ...any) []verdict.Finding {
	f := c.Finding(at, r, format, args...)
	f.Function = function
	return []verdict.Finding{f}
}

// layerOf is the layer whose call has to have the pools as they are asked for in look i.
func (c *lent) layerOf(i int) int {
	n := len(c.W.layers)
	if i < n {
		return i
	}
	return max(2*n-i, 0) % n
}

// last is the student's last successful call of a kind up to a record; -1 where there is none.
func (c *lent) last(op trace.Op, before int, fits func(*trace.Record) bool) int {
	at := -1
	for _, i := range c.Find(op) {
		if i <= before && fits(c.Record(i)) {
			at = i
		}
	}
	return at
}

// poolName is what the student calls a pool.
func (c *lent) poolName(id trace.ID) string {
	i, lends := slices.Index(c.pools, id), c.W.lent()
	switch layer := slices.Index(lends, i); {
	case i == 0:
		return "the device's default pool"
	case i < 0:
		return "a pool that the code has made"
	case i == 1 && c.W.ownPool:
		return "the caller's own pool"
	case layer >= 0:
		return "the pool that was lent"
	}
	return "the pool that work has made current"
}
