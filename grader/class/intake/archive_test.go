package intake

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rawZip is a zip of entries as they are, in their order.
func rawZip(t testing.TB, headers []zip.FileHeader, texts ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, h := range headers {
		e, err := w.CreateHeader(&h)
		require.NoError(t, err)
		if i < len(texts) {
			_, err = e.Write([]byte(texts[i]))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.String()
}

func rawTar(t testing.TB, headers []tar.Header, texts ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, h := range headers {
		if i < len(texts) {
			h.Size = int64(len(texts[i]))
		}
		require.NoError(t, w.WriteHeader(&h))
		if i < len(texts) {
			_, err := w.Write([]byte(texts[i]))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.String()
}

func encryptedZip(t testing.TB) string {
	b := []byte(tree{"slab/slab.go": slab}.zip(t))
	for at := 0; ; at++ {
		next := bytes.Index(b[at:], []byte("PK\x01\x02"))
		if next < 0 {
			return string(b)
		}
		at += next
		b[at+8] |= zipEncrypted
	}
}

// overlappingZip has two directory entries for the same bytes.
func overlappingZip(t testing.TB) string {
	b := tree{"slab/a.go": slab, "slab/b.go": slab}.zip(t)
	directory := strings.Index(b, "PK\x01\x02")
	second := directory + strings.Index(b[directory+4:], "PK\x01\x02") + 4
	out := []byte(b)
	copy(out[second+42:second+46], out[directory+42:directory+46]) // the offset of the local header
	return string(out)
}

// zeroes is a zip that unpacks to 100 MiB.
func zeroes(t testing.TB) string { return tree{"slab/slab.go": strings.Repeat("\x00", 100<<20)}.zip(t) }

func TestHostileArchives(t *testing.T) {
	manyZip := make([]zip.FileHeader, 100_000)
	manyTar := make([]tar.Header, 100_000)
	for i := range manyZip {
		manyZip[i] = zip.FileHeader{Name: fmt.Sprintf("slab/%d.go", i)}
		manyTar[i] = tar.Header{Name: manyZip[i].Name, Typeflag: tar.TypeReg}
	}
	good := tree{"slab/slab.go": slab}
	lying := []byte(good.zip(t))
	// unpacked size in the directory
	binary.LittleEndian.PutUint32(lying[strings.Index(string(lying), "PK\x01\x02")+24:], 5)
	nestedBombs := tree{"slab/slab.go": slab}
	for i := range 4 {
		nestedBombs[fmt.Sprintf("%d.tar", i)] = tree{"x": strings.Repeat("x", 20<<20)}.tar(t)
	}
	for name, c := range map[string]struct {
		file, content string
		want          string // of the Problem; "" where the submission can be used
		note          string
	}{
		"traversal": {"x.zip", tree{"slab/slab.go": slab, "../../evil.go": slab}.zip(t),
			"The archive names a file ../../evil.go, which leads out of it", ""},
		"traversal in a folder": {"x.zip", tree{"slab/slab.go": slab, "slab/../../evil.go": slab}.zip(t),
			"which leads out of it", ""},
		"traversal in a tar": {"x.tar", tree{"slab/slab.go": slab, "../evil.go": slab}.tar(t),
			"The archive names a file ../evil.go, which leads out of it", ""},
		"traversal, hidden": {"x.tgz", tree{"slab/slab.go": slab, ".git/../../evil.go": slab}.targz(t),
			"which leads out of it", ""},
		"backslashes": {"x.zip", tree{`slab\slab.go`: slab, `slab\`: ""}.zip(t), "", ""},
		"traversal, backslash": {"x.zip", tree{"slab/slab.go": slab, `slab\..\..\evil.go`: slab}.zip(t),
			"which leads out of it", ""},
		"absolute": {"x.zip", tree{"slab/slab.go": slab, "/etc/passwd": slab}.zip(t),
			"The archive names a file /etc/passwd, which is a place outside of it.", ""},
		"absolute in a tar": {"x.tar", tree{"slab/slab.go": slab, "/etc/passwd": slab}.tar(t),
			"The archive names a file /etc/passwd, which is a place outside of it.", ""},
		"drive": {"x.zip", tree{"slab/slab.go": slab, "c:evil.go": slab}.zip(t), "a place outside of it", ""},
		"server": {"x.zip", tree{"slab/slab.go": slab, `\\host\share\evil.go`: slab}.zip(t),
			"a place outside of it", ""},
		"zero byte": {"x.zip", tree{"slab/slab.go": slab, "slab/a\x00.go": slab}.zip(t),
			`"slab/a\x00.go", with a zero byte`, ""},
		"long path": {"x.zip", tree{"slab/slab.go": slab, strings.Repeat("d/", 600) + "x": slab}.zip(t),
			"with a path of 1201 bytes; 1024 are allowed", ""},
		"name not UTF-8": {"x.zip", rawZip(t, []zip.FileHeader{{Name: "M\xFCller/slab.go", NonUTF8: true}}, slab), "",
			"the bytes are written out in: M%FCller/slab.go."},
		"same name twice": {"x.zip", rawZip(t, []zip.FileHeader{{Name: "slab/slab.go"}, {Name: "slab//./slab.go"}}, slab,
			buddy), "The archive x.zip holds two files slab/slab.go, and which one counts cannot be told.", ""},
		"same name twice, tar": {"x.tar", rawTar(t, []tar.Header{{Name: "slab/slab.go"}, {Name: "slab/slab.go"}}, slab, slab),
			"holds two files slab/slab.go", ""},
		"encrypted": {"x.zip", encryptedZip(t), "The archive x.zip is encrypted, and there is no password to open " +
			"it with. Hand it in without one.", ""},
		"overlapping":    {"x.zip", overlappingZip(t), "has files that share their bytes", ""},
		"unknown method": {"x.zip", patchedMethod(t), "a method (number 14) that is not read here", ""},
		"truncated zip":  {"x.zip", good.zip(t)[:60], "The archive x.zip is damaged or incomplete", ""},
		"truncated tar":  {"x.tar", good.tar(t)[:515], "The archive x.tar is damaged or incomplete (unexpected EOF)", ""},
		"truncated gzip": {"x.tgz", good.targz(t)[:70], "The archive x.tgz is damaged or incomplete (unexpected EOF)",
			""},
		"no checksum": {"x.tgz", strings.TrimSuffix(good.targz(t), good.targz(t)[len(good.targz(t))-6:]),
			"damaged or incomplete", ""},
		"wrong checksum": {"x.zip", strings.ReplaceAll(rawZip(t, []zip.FileHeader{{Name: "slab/slab.go"}}, slab),
			"package slab", "package slob"), "The archive x.zip is damaged or incomplete (zip: checksum error)", ""},
		"wrong size":    {"x.zip", string(lying), "damaged or incomplete", ""},
		"empty":         {"x.zip", "", "damaged or incomplete", ""},
		"empty tar":     {"x.tar", "", "is empty, or not an archive", ""},
		"really a 7z":   {"x.zip", "7z\xBC\xAF\x27\x1C", "is of another kind than its name says", ""},
		"no archive":    {"x.tgz", strings.Repeat("hello ", 1000), "damaged or incomplete", ""},
		"100,000 files": {"x.zip", rawZip(t, manyZip), "The archive x.zip holds more than 10000 files and folders.", ""},
		"100,000 files, tar": {"x.tgz", gzipped(t, rawTar(t, manyTar)),
			"The archive x.tgz holds more than 10000 files and folders.", ""},
		"bomb": {"x.zip", zeroes(t), "The archive x.zip unpacks to more than 64 MiB.", ""},
		"bomb by ratio": {"x.zip", tree{"slab/slab.go": strings.Repeat("\x00", 30<<20)}.zip(t),
			"The archive x.zip unpacks to more than 200 times its size", ""},
		"bomb in gzip": {"x.tgz", gzipped(t, strings.Repeat("\x00", 100<<20)), "unpacks to more than 200 times its size",
			""},
		"bomb of a tar": {"x.tgz", tree{"slab/slab.go": strings.Repeat("\x00", 30<<20)}.targz(t),
			"unpacks to more than 200 times its size", ""},
		"bomb among bombs": {"x.zip", nestedBombs.zip(t), "unpacks to more than 64 MiB", ""},
		"bomb inside": {"x.zip", tree{"slab/slab.go": slab, "b.zip": zeroes(t)}.zip(t), "",
			"b.zip was left aside. The archive b.zip unpacks to more than 64 MiB."},
		"traversal inside": {"x.zip", tree{"slab/slab.go": slab, "b.zip": tree{"../x.go": slab}.zip(t)}.zip(t), "",
			"b.zip was left aside. The archive names a file ../x.go, which leads out of it."},
		"link, tar": {"x.tar", rawTar(t, []tar.Header{
			{Name: "slab/slab.go", Typeflag: tar.TypeReg}, {Name: "slab/out", Typeflag: tar.TypeSymlink, Linkname: "/etc"},
			{Name: "slab/out/passwd", Typeflag: tar.TypeReg},
			{Name: "slab/hard.go", Typeflag: tar.TypeLink, Linkname: "../../../etc/passwd"},
			{Name: "slab/dev", Typeflag: tar.TypeBlock}, {Name: "slab/pipe", Typeflag: tar.TypeFifo},
		}), "", "links and special files are never followed; put the files themselves there: slab/dev, slab/hard.go, " +
			"slab/out, slab/pipe."},
		"link, zip": {"x.zip", rawZip(t, []zip.FileHeader{{Name: "slab/slab.go"}, linkHeader("slab/other.go")}, slab,
			"/etc/passwd"), "", "put the files themselves there: slab/other.go."},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree{"subs/" + c.file: c.content, "subs/good/slab.go": slab, "subs/Good2.zip": good.zip(t)}.write(t,
				t.TempDir())
			in := opened(t, filepath.Join(dir, "subs"))
			x := in.Submissions()[2]
			require.Equal(t, "x", x.ID)
			if c.want == "" {
				require.Empty(t, x.Problem)
				require.Equal(t, []string{"slab"}, x.Packages)
				require.Contains(t, strings.Join(x.Notes, "\n"), c.note)
				require.Contains(t, found(t, in), "x: slab/slab.go")
			} else {
				require.Contains(t, x.Problem, c.want)
			}
			paths := found(t, in)
			require.Subset(t, paths, []string{"Good2: slab/slab.go", "good: slab/slab.go"},
				"the others are as they would be without it")
		})
	}
}

func linkHeader(name string) zip.FileHeader {
	h := zip.FileHeader{Name: name}
	h.SetMode(fs.ModeSymlink | 0o777)
	return h
}

func patchedMethod(t testing.TB) string {
	b := []byte(tree{"slab/slab.go": slab}.zip(t))
	b[bytes.Index(b, []byte("PK\x01\x02"))+10] = 14
	return string(b)
}

// In one archive of all, what is wrong with one student's files is that student's problem.
func TestHostileFilesInAnArchiveOfAll(t *testing.T) {
	files := tree{
		"a/slab.go": slab, "b/slab.go": slab, "b/../../x": "", "c/slab.go": slab, "c/large": strings.Repeat("\x00", 70<<20),
		"../d/slab.go": slab,
		"e/slab.go":    slab, "e/\x00": "", "f/slab.go": slab, "f//slab.go": slab,
	}
	inZip := files.zip(t)
	delete(files, "e/\x00") // which tar cannot say
	for name, content := range map[string]string{"class.zip": inZip, "class.tgz": files.targz(t)} {
		dir := tree{name: content}.write(t, t.TempDir())
		in := opened(t, filepath.Join(dir, name))
		require.Subset(t, found(t, in), []string{"a: slab/slab.go", "b!", "c!", "f!"}, name)
		require.Len(t, in.Submissions(), 5, name)
		require.Equal(t, "The submission unpacks to more than 64 MiB. Hand in only the exercises' files, which are small.",
			in.Submissions()[2].Problem)
		require.Equal(t, []string{"The archive names a file ../d/slab.go, which leads out of it. Pack the folder anew."},
			in.Notes())
	}
}

func TestCleanPath(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.go": "a/b.go", "./a//b/": "a/b", `a\b.go`: "a/b.go", ".": "", "": "", "a/..b/c..": "a/..b/c..",
		"\xFF\xFE/a": "%FF%FE/a", "ä/\uFFFD": "ä/\uFFFD",
	} {
		path, _, f := cleanPath(name)
		require.Empty(t, f, name)
		require.Equal(t, want, path)
	}
	for name, before := range map[string]string{"a/../b": "a", "..": "", `a\..`: "a", "/a": "", `\a`: "", "C:/a": "",
		"z:": "", "a/b\x00/c": "a"} {
		path, _, f := cleanPath(name)
		require.NotEmpty(t, f, name)
		require.Equal(t, before, path)
	}
}
