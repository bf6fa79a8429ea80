// Package platforms writes a class's results as other systems read them: the platforms that a course hands in to, and
// continuous integration. Each file says whose documents its fields are from.
package platforms

// maxOutput bounds what is said about one test, in bytes: what a student reads on one page.
const maxOutput = 8 << 10
