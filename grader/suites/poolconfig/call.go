package poolconfig

import (
	"fmt"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// call is one call of Run as the trace shows it.
type call struct {
	*suite.Made[workload]
	report        contract.PoolReport
	before, after state         // of the device's pools
	pool          trace.ID      // the first that Run has made; 0, as the default pool, if none
	blocks        []suite.Block // what Run has allocated, in the order of the calls
	reads         []read        // what it asked of its pool
	waited        []int         // its calls that make the host wait
}

// state is what the grader's own questions show of a device's pools at one moment.
type state struct {
	defaultPool, current trace.ID
	attributes           map[device.PoolAttr]uint64 // of the default pool
}

// read is an answer about Run's own pool.
type read struct {
	at      int
	attr    device.PoolAttr
	value   uint64
	settled bool // the host has waited for all that was enqueued until then
}

// follow goes through the records of a call once and keeps what became of Run's pool and its blocks.
func follow(m *suite.Made[workload]) *call {
	c := *verdict.Once(m.Notes, fmt.Sprint("followed from ", m.From), func() *call { return followed(m) })
	c.Made = m
	return &c
}

func followed(m *suite.Made[workload]) *call {
	records := m.Notes.Trace.Records
	left := slices.IndexFunc(records[m.To:], func(r trace.Record) bool {
		return r.Op == trace.OpMark &&
			r.Label == markLeft
	})
	c := &call{Made: m, report: reportOf(m.Noted(noteReport)), blocks: m.Blocks(),
		before: look(records[min(m.Set, m.From):m.From]), after: look(records[m.To : m.To+max(left, 0)])}
	if made := c.Find(trace.OpMemPoolCreate); len(made) > 0 {
		c.pool = c.Record(made[0]).Pool
	}
	work := map[trace.ID]int{} // by stream, the last that was enqueued there
	m.Records(func(at int, r *trace.Record) bool {
		if what := c.HostWait(at); what != "" {
			c.waited = append(c.waited, at)
		}
		if r.Code != 0 {
			return true
		}
		switch r.Op {
		case trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpFreeAsync, trace.OpLaunch, trace.OpMemsetAsync,
			trace.OpMemcpyHtoDAsync, trace.OpMemcpyDtoHAsync, trace.OpMemcpyDtoDAsync:
			work[r.Stream] = at
		case trace.OpMemPoolGetAttribute:
			if r.Pool == c.pool {
				c.reads = append(c.reads, read{at, device.PoolAttr(r.Attr), r.Value, c.settled(at, work)})
			}
		}
		return true
	})
	return c
}

// settled reports whether at a record the host has waited for all work that was enqueued until then, of which it is
// told the last of each stream.
func (c *call) settled(at int, work map[trace.ID]int) bool {
	for _, last := range work {
		if !c.Before(last, at) {
			return false
		}
	}
	return true
}

// look gathers the grader's questions about the pools and their answers; where one was asked twice, the later answer
// counts.
func look(records []trace.Record) state {
	s := state{attributes: map[device.PoolAttr]uint64{}}
	for i := range records {
		switch r := &records[i]; r.Op {
		case trace.OpDeviceGetDefaultMemPool:
			s.defaultPool = r.Pool
		case trace.OpDeviceGetMemPool:
			s.current = r.Pool
		case trace.OpMemPoolGetAttribute:
			s.attributes[device.PoolAttr(r.Attr)] = r.Value
		}
	}
	return s
}

// each is a judgement of the calls that returned nil. One that did not is told by the part about pools.
func each(look func(*call) []verdict.Finding) func(*suite.Made[workload]) []verdict.Finding {
	return func(m *suite.Made[workload]) []verdict.Finding {
		if !m.Outcome.OK() {
			return nil
		}
		return look(follow(m))
	}
}

// whole is a judgement of those that have allocated as many blocks as they were to: only then do they fall into rounds.
func whole(look func(*call) []verdict.Finding) func(*suite.Made[workload]) []verdict.Finding {
	return each(func(c *call) []verdict.Finding {
		if len(c.blocks) != c.due() {
			return nil
		}
		return look(c)
	})
}

// due is how many blocks all rounds have together.
func (c *call) due() int { return c.W.config.Rounds * len(c.W.config.Sizes) }

// rounds are the blocks, round by round.
func (c *call) rounds() [][]suite.Block {
	return slices.Collect(slices.Chunk(c.blocks, len(c.W.config.Sizes)))
}

// span is the records of round i after its last block was allocated, and after its last free: from there on it is
// sampled, until the next round's first block is allocated or, in the last round, Run has returned.
func (c *call) span(i int) (from, free, to int) {
	n := len(c.W.config.Sizes)
	from, to = c.blocks[(i+1)*n-1].Made, c.To
	if next := (i + 1) * n; next < len(c.blocks) {
		to = c.blocks[next].Made
	}
	return from, max(from, lastFree(c.rounds()[i])), to
}

// lastFree is the record of the last free of some blocks; -1 if none was freed.
func lastFree(blocks []suite.Block) int {
	last := -1
	for _, b := range blocks {
		last = max(last, b.Freed)
	}
	return last
}

// asked are the answers about an attribute of Run's pool in the records from from to to.
func (c *call) asked(attr device.PoolAttr, from, to int) (found []read) {
	first, _ := slices.BinarySearchFunc(c.reads, from, func(r read, from int) int { return r.at - from })
	for _, r := range c.reads[first:] {
		if r.at >= to {
			break
		}
		if r.attr == attr {
			found = append(found, r)
		}
	}
	return found
}

// sets are the records in which an attribute of a pool was set.
func (c *call) sets(pool trace.ID, attr device.PoolAttr) []int {
	return slices.DeleteFunc(c.Find(trace.OpMemPoolSetAttribute), func(at int) bool {
		r := c.Record(at)
		return r.Pool != pool || device.PoolAttr(r.Attr) != attr
	})
}
