// Package rooms holds the packages to their order. A room is a folder whose packages belong together, and rooms lie in
// layers: each imports only those below it, so no two need each other, and whoever reads one knows what it can rest on.
// As it reads every file anyway, it also holds their lines to a length.
package rooms
