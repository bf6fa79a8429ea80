package intake

import (
	"archive/tar"
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzArchive hands in any bytes as a submission, and as SUBMISSIONS, under every name that an archive may have.
func FuzzArchive(f *testing.F) {
	files := tree{"ada/slab/slab.go": slab, "bob/slab.go": slab, "bob/b.go": buddy,
		"inner.zip": tree{"slab.go": slab}.zip(f)}
	f.Add([]byte(files.zip(f)), byte(0))
	f.Add([]byte(files.tar(f)), byte(1))
	f.Add([]byte(files.targz(f)), byte(2))
	f.Add([]byte(tree{"../x/slab.go": slab, `C:\slab.go`: slab, "a\x00/slab.go": slab}.zip(f)), byte(0))
	f.Add([]byte(rawZip(f, []zip.FileHeader{{Name: "slab/slab.go"}, linkHeader("slab/b.go")}, slab, "/etc/passwd")),
		byte(0))
	f.Add([]byte(rawTar(f, []tar.Header{
		{Name: "slab/slab.go", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, {Name: "slab", Typeflag: tar.TypeSymlink,
			Linkname: ".."},
	})), byte(1))
	f.Add([]byte(overlappingZip(f)), byte(0))
	f.Add([]byte(encryptedZip(f)), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, kind byte) {
		name := "evil" + []string{".zip", ".tar", ".tar.gz", ".tgz"}[kind%4]
		around := t.TempDir()
		dir := tree{"subs/" + name: string(data), "subs/good/slab.go": slab, "temp/": ""}.write(t, around)
		before := contentsOf(t, dir)
		for _, path := range []string{filepath.Join(dir, "subs"), filepath.Join(dir, "subs", name)} {
			in, err := Open(path, course, Options{Temp: filepath.Join(dir, "temp")})
			if err != nil {
				var unusable *Error
				require.ErrorAs(t, err, &unusable)
				require.NotContains(t, err.Error(), "could not be copied")
			} else {
				checkBounds(t, in)
				require.NoError(t, in.Close())
			}
			require.Equal(t, before, contentsOf(t, dir), "something was written or is left")
		}
	})
}

// checkBounds holds an intake to what it promises of every submission.
func checkBounds(t *testing.T, in *Intake) {
	ids := map[string]bool{}
	for _, s := range in.Submissions() {
		require.False(t, ids[fold(s.ID)], s.ID)
		ids[fold(s.ID)] = true
		require.Equal(t, s.ID, safeID(s.ID))
		require.LessOrEqual(t, len(s.Notes), 100)
		if s.Problem != "" {
			require.Empty(t, s.Dir)
			continue
		}
		require.Equal(t, filepath.Join(in.dir, "submissions", s.ID), s.Dir)
		for _, pkg := range s.Packages {
			require.Contains(t, course, pkg)
			entries, err := os.ReadDir(filepath.Join(s.Dir, pkg))
			require.NoError(t, err)
			require.NotEmpty(t, entries)
			require.LessOrEqual(t, len(entries), 2*maxFiles+1)
			for _, e := range entries {
				info, err := e.Info()
				require.NoError(t, err)
				require.True(t, info.Mode().IsRegular())
				require.LessOrEqual(t, info.Size(), int64(maxFileSize+1))
				require.False(t, strings.HasPrefix(e.Name(), "."))
			}
		}
	}
}
