package intake

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// What a class of 120 costs before anything is built, each with two exercises among a repository's other files.
func BenchmarkOpen(b *testing.B) {
	submission := tree{"README.md": "text", "report.pdf": strings.Repeat("0123456789", 20_000)}
	for _, pkg := range []string{"slab", "buddy"} {
		submission["exercises/"+pkg+"/"+pkg+".go"] = "package " + pkg + "\n" +
			strings.Repeat("// A line as long as many a line of code is.\n", 200)
	}
	for i := range 100 {
		submission[fmt.Sprintf("kernels/part%d/file.go", i)] = "package part\n" + strings.Repeat("// text\n", 100)
	}
	archive := submission.zip(b)
	folders, archives := tree{}, tree{}
	for i := range 120 {
		id := fmt.Sprintf("student %03d", i)
		archives["subs/"+id+".zip"] = archive
		for name, text := range submission {
			folders["subs/"+id+"/"+name] = text
		}
	}
	for name, files := range map[string]tree{
		"folders/subs": folders, "zips/subs": archives, "zip/class.zip": {"class.zip": folders.zip(b)},
		"tgz/class.tgz": {"class.tgz": folders.targz(b)},
	} {
		kind, path, _ := strings.Cut(name, "/")
		dir := files.write(b, b.TempDir())
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				in, err := Open(filepath.Join(dir, path), course, Options{Temp: b.TempDir()})
				if err != nil || len(in.Submissions()) != 120 || len(in.Submissions()[119].Packages) != 2 {
					b.Fatal(err, in)
				}
				in.Close()
			}
		})
	}
}
