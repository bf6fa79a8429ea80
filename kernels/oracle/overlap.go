package oracle

// Mixing is what kernel mix makes of each element, with so many rounds of work.
func Mixing(work int) Rounds {
	all := RoundsOf(work)
	return Rounds{all.factor * 2654435761, all.factor + all.summand}
}
