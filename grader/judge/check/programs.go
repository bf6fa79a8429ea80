package check

import (
	"context"
	"slices"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
)

// Programs are several programs of one exercise in one runner: each alone, a third of what its check costs is linking.
type Programs struct {
	q     Request
	built *compile.Result
}

// Link makes a runner of all code of a request, which may be of one exercise. Its error is as Submission's.
func Link(ctx context.Context, q Request) (*Programs, error) {
	q.Code = slices.Clone(q.Code)
	if len(q.Code) > 1 {
		for i := range q.Code {
			q.Code[i].number = i + 1
		}
	}
	built, err := build(ctx, q)
	if err != nil {
		return nil, err
	}
	return &Programs{q, built}, nil
}

// Check checks the i-th program in a process of its own, as Submission does with that program alone. Programs may be
// checked at the same time. What is not in the runner, and what no code explains, is left to Submission.
func (p *Programs) Check(ctx context.Context, i int) (Result, error) {
	if linked := &p.built.Exercises[i]; linked.OK() {
		runner := run.NewRunner(p.built.Binary, p.q.Options)
		r := one(ctx, p.q, p.q.Code[i], linked, runner)
		runner.Close()
		if r.Err == nil {
			advise(&r.Report, p.q, p.q.Code[i])
			return r, nil
		}
	}
	q := p.q
	q.Code = slices.Clone(q.Code)
	q.Code[i].number = 0
	return alone(ctx, q, i)
}

// Close gives the runner up, once no program is being checked any more.
func (p *Programs) Close() { p.built.Close() }
