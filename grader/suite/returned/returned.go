// Package returned has the lines at which the code under test has returned. That code is compiled with an assignment in
// front of the return statements of its exported functions, and of those whose answer one of them returns.
package returned

// Lines are those of the last return statement of each of these functions, in no order that means anything; 0 where
// there is none.
type Lines [12]int32

// Last are the lines since somebody has cleared them.
var Last Lines

// Only is the line where it is one alone; else 0.
func (l Lines) Only() (line int) {
	for _, n := range l {
		if n != 0 && line != 0 {
			return 0
		}
		line = max(line, int(n))
	}
	return line
}
