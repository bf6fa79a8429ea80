// Package returned is told where code returns.
package returned

// Last has the lines.
var Last [12]int32
