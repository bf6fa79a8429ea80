// Package self is what a process of cudalab's does about itself: it reaches the files that package child gave it, and
// has its heap grow cheaply. It imports next to nothing, because the runner's link time is most of what a student waits
// for.
package self

// HandlesVariable is the environment variable that lists the files' handles on Windows, where they have no fixed
// numbers.
const HandlesVariable = "CUDALAB_INHERITED_HANDLES"

// TooLong is the exit status of a child that has ended itself because it took too long, where nobody else can have it
// say what it was at: in a browser.
const TooLong = 124
