package interleave

// Numbers and FailureOf are a failure on its way from the runner to cudalab.
func Numbers(f *Failure) []uint64                     { return f.numbers() }
func FailureOf(p *Program, numbers []uint64) *Failure { return p.failureOf(numbers) }
