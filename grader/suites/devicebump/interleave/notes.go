package interleave

import "slices"

// Notes are numbers, so that is how a failure comes from the runner to cudalab: its rule, its thread, how often others
// changed the word, its steps, and what was answered.

// rules are those that an exploration comes to by itself.
var rules = []string{WrongEnd, WaitsForThread, NotRepeatable, TooMany}

const stepNumbers = 9 // of each step

func (f *Failure) numbers() []uint64 {
	all := []uint64{uint64(slices.Index(rules, f.Rule)), uint64(f.Thread + 1), uint64(f.Others), uint64(len(f.Steps))}
	for _, s := range f.Steps {
		last := uint64(0)
		if s.Last {
			last = 1
		}
		all = append(all, uint64(s.Thread), uint64(s.Request), uint64(s.Op.Kind), s.Op.Compare, s.Op.Value, s.Answer, last,
			uint64(s.Line), uint64(s.Returned))
	}
	for _, offsets := range f.Results {
		all = append(all, offsets...)
	}
	return all
}

// failureOf is what numbers stand for, of a program; nil where they stand for nothing.
func (p *Program) failureOf(numbers []uint64) *Failure {
	if len(numbers) < 4 || numbers[0] >= uint64(len(rules)) || numbers[1] > uint64(len(p.Threads)) || numbers[2] > 255 {
		return nil
	}
	f := &Failure{Rule: rules[numbers[0]], Thread: int(numbers[1]) - 1, Others: int(numbers[2])}
	steps, left := numbers[3], numbers[4:]
	if steps > uint64(len(left)/stepNumbers) {
		return nil
	}
	for range steps {
		if left[2] > uint64(CompareAndSwap) || left[0] >= uint64(len(p.Threads)) || left[1] >= maxRequests {
			return nil
		}
		f.Steps = append(f.Steps, Step{int(left[0]), int(left[1]), Op{Kind(left[2]), left[3], left[4]}, left[5],
			left[6] == 1, int(left[7]), int(left[8])})
		left = left[stepNumbers:]
	}
	if f.Rule != WrongEnd {
		return f
	}
	requests, _ := p.requests()
	for _, r := range requests {
		if len(left) < len(r.Sizes) {
			return nil
		}
		f.Results, left = append(f.Results, left[:len(r.Sizes)]), left[len(r.Sizes):]
	}
	return f
}
