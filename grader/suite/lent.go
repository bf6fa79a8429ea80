package suite

// Lent is a thing of the grader's as the code under test gets it. A lesson's own type of this kind has the methods that
// the contract names, and only they reach the thing: of a function fmt prints where its code lies, of a pointer or a
// struct it would print a limit or a log, by which code could tell one case from another.
type Lent[Thing any] func() Thing

// Lend makes a Lent. Inlined, its code would lie in as many places as there are calls, and tell them apart.
//
//go:noinline
func Lend[Thing any](x Thing) Lent[Thing] { return func() Thing { return x } }
