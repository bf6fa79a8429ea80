// Package reach holds what is lent to the code under test to telling it nothing: whichever case a call is of, the same
// is printed of a stream, an allocator or a function that it is given, and the device says the same of itself.
package reach
