// Package runner calls the student's code and prints what it answers.
package runner

import "fmt"

type Suite interface{ Answer() any }

func Main(suites ...Suite) {
	for _, s := range suites {
		fmt.Println(s.Answer())
	}
}

type numbered struct {
	Suite
	number int
}

func (n numbered) Answer() any { return fmt.Sprint(n.Suite.Answer(), n.number) }

// Numbered puts a number behind an answer.
func Numbered(s Suite, number int) Suite { return numbered{s, number} }
