package intake

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// rar is a RAR archive of version 4 with the files as they are, without the program that writes better ones.
func (f tree) rar(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("Rar!\x1a\x07\x00")
	block := func(kind byte, flags uint16, rest []byte) {
		head := []byte{kind}
		head = binary.LittleEndian.AppendUint16(head, flags)
		head = binary.LittleEndian.AppendUint16(head, uint16(7+len(rest)))
		head = append(head, rest...)
		b.Write(binary.LittleEndian.AppendUint16(nil, uint16(crc32.ChecksumIEEE(head))))
		b.Write(head)
	}
	block(0x73, 0, make([]byte, 6))
	for _, name := range f.names() {
		text := f[name]
		var h []byte
		for _, n := range []uint32{uint32(len(text)), uint32(len(text))} {
			h = binary.LittleEndian.AppendUint32(h, n)
		}
		h = append(h, 3) // Unix
		h = binary.LittleEndian.AppendUint32(h, crc32.ChecksumIEEE([]byte(text)))
		h = binary.LittleEndian.AppendUint32(h, 0)
		h = append(h, 20, 0x30) // stored
		h = binary.LittleEndian.AppendUint16(h, uint16(len(name)))
		h = binary.LittleEndian.AppendUint32(h, 0o100644)
		block(0x74, 0x8000, append(h, name...))
		b.WriteString(text)
	}
	block(0x7b, 0x4000, nil)
	return b.String()
}

// What xz and bzip2 have packed is read like any other archive, and so is a RAR.
func TestPackedArchives(t *testing.T) {
	packed := func(name string) string {
		text, err := os.ReadFile(filepath.Join("testdata", "packed", name))
		require.NoError(t, err)
		return string(text)
	}
	dir := tree{
		"subs/a.tar.xz": packed("ada.tar.xz"), "subs/b.tbz2": packed("ada.tar.bz2"),
		"subs/c.rar":      tree{"work/slab/slab.go": slab}.rar(t),
		"subs/d/mine.rar": tree{"slab.go": slab, "b.zip": tree{"buddy.go": buddy}.zip(t)}.rar(t),
		"subs/e.zip":      packed("ada.tar.xz"),
		"subs/f.rar":      tree{"../slab.go": slab}.rar(t), "subs/g.rar": tree{"slab.go": slab}.rar(t)[:60],
		"subs/h.tar.xz":  packed("window.tar.xz"),
		"subs/i.tar.bz2": packed("ada.tar.bz2")[:100],
	}.write(t, t.TempDir())
	in := opened(t, filepath.Join(dir, "subs"))
	require.Equal(t, []string{"a: slab/slab.go", "b: slab/slab.go", "c: slab/slab.go", "d: buddy/buddy.go",
		"d: slab/slab.go", "e: slab/slab.go", "f!", "g!", "h!", "i!"},
		found(t, in))
	for i, want := range map[int]string{5: "leads out of it", 6: "is damaged or incomplete",
		7: "needs more than 64 MiB of memory", 8: "is damaged or incomplete"} {
		s := in.Submissions()[i]
		require.Contains(t, s.Problem, want)
		require.Equal(t, course, s.Unread, "what cannot be read is for a person to look at")
		require.Equal(t, []string{s.Problem}, s.Attention)
	}
}
