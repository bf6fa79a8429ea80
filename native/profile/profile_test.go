package profile_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

// sample is a file as `cudalab calibrate` writes it.
func sample() *profile.File {
	return &profile.File{Profile: sim.H200, Driver: "13.0", Date: "2026-11-21", Kept: []string{"queue_depth", "step_ps"}}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	want := sample()
	path := filepath.Join(t.TempDir(), "profile.json")
	require.NoError(t, os.WriteFile(path, want.Text(), 0o644))
	got, err := profile.Load(path)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// Every field of a profile has its place in the file, and a name that ends in its unit, but for what is counted.
func TestEveryFieldHasAName(t *testing.T) {
	unit := regexp.MustCompile(`_(ns|ps|bytes|bytes_per_s)$`)
	counted := map[string]bool{"multiprocessors": true, "compute_capability": true, "threads_per_block": true,
		"queue_depth":                true,
		"threads_per_multiprocessor": true, "blocks_per_multiprocessor": true, "step_warps": true}
	seen := map[string]bool{"device": true}
	p := sim.H200
	for _, c := range p.Constants() {
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		require.True(t, counted[c.Name] || unit.MatchString(c.Name), c.Name)
	}
	require.Len(t, seen, reflect.TypeOf(p).NumField())
}

// edited is the sample as JSON with something changed.
func edited(t *testing.T, change func(file, constants map[string]any)) string {
	var file map[string]any
	d := json.NewDecoder(strings.NewReader(string(sample().Text())))
	d.UseNumber()
	require.NoError(t, d.Decode(&file))
	change(file, file["constants"].(map[string]any))
	text, err := json.MarshalIndent(file, "", "  ")
	require.NoError(t, err)
	return string(text)
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	constant := func(name string, value any) string {
		return edited(t, func(_, constants map[string]any) { constants[name] = value })
	}
	field := func(name string, value any) string {
		return edited(t, func(file, _ map[string]any) { file[name] = value })
	}
	points := func(all ...int) any {
		var list []map[string]int
		for i := 0; i < len(all); i += 2 {
			list = append(list, map[string]int{"bytes": all[i], "ns": all[i+1]})
		}
		return list
	}
	whole := string(sample().Text())
	for _, c := range []struct{ text, want string }{
		{"", "line 1 of the file is no JSON: unexpected end of JSON input"},
		{"[]", "the file should be a JSON object, in braces"},
		{"\x00", "line 1 of the file is no JSON: invalid character '\\x00' looking for beginning of value"},
		{"{", "line 1 of the file is no JSON: unexpected end of JSON input"},
		{whole[:len(whole)/2], "of the file is no JSON: unexpected end of JSON input"},
		{whole + "{}", "of the file is no JSON: invalid character '{' after top-level value"},
		{strings.Replace(whole, `"kept": [`, `"kept": [}`, 1), "line 6 of the file is no JSON"},
		{strings.Replace(whole, `"memory_bytes":`, `"memory_bytes"`, 1), "line 8 of the file is no JSON"},
		{strings.Replace(whole, `"driver"`, `"device": "NVIDIA L4", "driver"`, 1), "the file has the field device twice"},
		{strings.Replace(whole, `"copy_ns"`, `"launch_ns": 1, "copy_ns"`, 1), "constants has the field launch_ns twice"},

		{field("schema", 1), "schema is 1, but this cudalab reads schema 3"},
		{field("schema", "2"), `schema is "2", but this cudalab reads schema 3`},
		{field("device", ""), `device is "", but should be the GPU's name, such as "NVIDIA L4"`},
		{field("device", "\x1b[2J"), "but should be the GPU's name"},
		{field("device", nil), "device is null, but should be the GPU's name"},
		{field("driver", 13), `driver is 13, but should be the driver's CUDA version, such as "13.0", or ""`},
		{field("date", "21 November"), `date is "21 November", but should be a day, such as "2026-11-21"`},
		{field("kept", "all"), `kept is "all", but should be a list of the names of constants`},
		{field("kept", []string{"speed"}), `kept names "speed", which is no constant of a profile`},
		{field("constants", 1), "constants should be a JSON object, in braces"},
		{field("notes", "mine"), `the file has a field "notes", which no profile has`},
		{edited(t, func(file, _ map[string]any) { delete(file, "date") }), "the file should have a field date"},

		{edited(t, func(_, constants map[string]any) { delete(constants, "wake_ns") }),
			"constants should have a field wake_ns"},
		{constant("warp_ns", 1), `constants has a field "warp_ns", which no profile has`},
		{constant("launch_ns", 0), "launch_ns is 0, but should be a whole number from 1 to 10000000000 nanoseconds"},
		{constant("launch_ns", -3), "launch_ns is -3, but should be a whole number"},
		{constant("launch_ns", 2.9), "launch_ns is 2.9, but should be a whole number"},
		{constant("launch_ns", "2900"), `launch_ns is "2900", but should be a whole number`},
		{constant("launch_ns", nil), "launch_ns is null, but should be a whole number"},
		{constant("launch_ns", json.Number("99999999999999999999")), "launch_ns is 99999999999999999999, but should be"},
		{constant("launch_ns", strings.Repeat("long", 99)),
			"launch_ns is \"longlonglonglonglonglonglonglonglonglon..., but should be"},
		{constant("memory_bytes", -1), "memory_bytes is -1, but should be a whole number from 1073741824 to " +
			"8796093022208 bytes"},
		{constant("memory_bytes", 140), "memory_bytes is 140, but should be"},
		{constant("multiprocessors", 0), "multiprocessors is 0, but should be a whole number from 1 to 10000"},
		{constant("compute_capability", 9), `compute_capability is 9, but should be a string such as "8.9"`},
		{constant("compute_capability", "9"), `compute_capability is "9", but should be a string such as "8.9"`},
		{constant("compute_capability", "0.0"), "compute_capability is 0.0, but should be one from 5.0 to 99.9"},
		{constant("htod_bytes_per_s", 27), "htod_bytes_per_s is 27, but should be a whole number from 1000000 to " +
			"1000000000000000 bytes per second"},
		{constant("granularity_bytes", 3<<20), "granularity_bytes is 3145728, but should be a power of two from 4096 to " +
			"1073741824 bytes"},
		{constant("pool_step_bytes", 64<<10), "pool_step_bytes is 65536, but should be a power of two from 262144"},
		{constant("threads_per_multiprocessor", 1000),
			"threads_per_multiprocessor is 1000, but should be at least threads_per_block"},
		{constant("blocks_per_multiprocessor", 4000),
			"blocks_per_multiprocessor is 4000, but should be at most threads_per_multiprocessor, 2048"},
		{constant("shared_bytes_per_s", 3_000_000_000_000),
			"shared_bytes_per_s is 3000000000000, but should be at least memory_bytes_per_s, 3880000000000"},
		{constant("link_bytes_per_s", 27_000_000_000),
			"link_bytes_per_s is 27000000000, but should be at least htod_bytes_per_s and dtoh_bytes_per_s"},

		{constant("malloc_ns", 27500), "malloc_ns is 27500, but should be a list of points"},
		{constant("malloc_ns", []int{}), "malloc_ns has 0 points, but should have 1 to 100"},
		{constant("malloc_ns", nil), "malloc_ns has 0 points"},
		{constant("malloc_ns", points(make([]int, 202)...)), "malloc_ns has 101 points"},
		{constant("malloc_ns", []int{5}), "point 1 of malloc_ns should be a JSON object"},
		{constant("malloc_ns", []map[string]int{{"bytes": 1}}), "point 1 of malloc_ns should have a field ns"},
		{constant("malloc_ns", []map[string]any{{"bytes": "1", "ns": 2}}),
			`point 1 of malloc_ns is for "1" bytes, but should be for a whole number`},
		{constant("malloc_ns", []map[string]any{{"bytes": 1, "ns": 0.5}}),
			"point 1 of malloc_ns is 0.5, but should be a whole number"},
		{constant("malloc_ns", points(0, 5)), "point 1 of malloc_ns is for 0 bytes"},
		{constant("malloc_ns", points(1, 5, 2, 0)), "point 2 of malloc_ns is 0, but should be a whole number from 1 to " +
			"10000000000 nanoseconds"},
		{constant("malloc_ns", points(9, 5, 8, 6)), "point 2 of malloc_ns is for 8 bytes and the one before it for 9, but " +
			"they should ascend"},
		{constant("malloc_ns", points(8, 5, 8, 6)), "but they should ascend"},
		{constant("malloc_ns", points(8, 6, 9, 5)), "the last point of malloc_ns costs 5 ns and the one before it 6"},
		{constant("malloc_ns", points(8, 1, 9, 10_000_000_000)),
			"malloc_ns rises from its last point but one to the last so steeply"},
	} {
		f, err := profile.Parse([]byte(c.text))
		require.ErrorContains(t, err, c.want)
		require.Nil(t, f)
	}
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	_, err := profile.Load(filepath.Join(dir, "profile.json"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	path := filepath.Join(dir, "wrong.json")
	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o644))
	_, err = profile.Load(path)
	require.EqualError(t, err, path+" is no profile of a GPU: the file should have a field schema. `cudalab calibrate` "+
		"writes one")
}

func TestKeep(t *testing.T) {
	f := sample()
	f.Profile.Launch = 5000
	f.Profile.Wake = 700
	f.Profile.Granule = 3 << 20                        // no power of two
	f.Profile.Malloc = sim.Curve{{Bytes: 1, Nanos: 0}} // takes no time
	f.Keep(func(name string) bool { return name == "launch_ns" })
	require.Equal(t, []string{"launch_ns", "malloc_ns", "granule_bytes"}, f.Kept)
	require.Equal(t, sim.H200.Launch, f.Profile.Launch)
	require.Equal(t, sim.H200.Granule, f.Profile.Granule)
	require.Equal(t, sim.H200.Malloc, f.Profile.Malloc)
	require.Equal(t, int64(700), f.Profile.Wake)
	f.Profile.Malloc[0].Nanos++
	require.NotEqual(t, sim.H200.Malloc, f.Profile.Malloc, "a copy")
}

func TestDigest(t *testing.T) {
	require.Empty(t, profile.Digest(nil))
	same, other, named := sim.H200, sim.H200, sim.H200
	other.MemRelease = append(sim.Curve{}, other.MemRelease...)
	other.MemRelease[3].Nanos++
	named.Name = "NVIDIA L4"
	require.Len(t, profile.Digest(&same), 16)
	require.Equal(t, profile.Digest(&sim.H200), profile.Digest(&same))
	require.NotEqual(t, profile.Digest(&same), profile.Digest(&other))
	require.NotEqual(t, profile.Digest(&same), profile.Digest(&named))
}

// No text makes Parse panic, and whatever it takes can be simulated.
func FuzzParse(f *testing.F) {
	f.Add(string(sample().Text()))
	f.Add(strings.Replace(string(sample().Text()), "2900", "1", 1))
	f.Add(`{"schema": 3, "constants": {}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := profile.Parse([]byte(text))
		if err != nil {
			require.NotContains(t, fmt.Sprint(err), "\n")
			return
		}
		again, err := profile.Parse(p.Text())
		require.NoError(t, err)
		require.Equal(t, p, again)
		d := sim.New(sim.Options{Profile: &p.Profile})
		defer d.Close()
		a, code := d.MemAlloc(1 << 20)
		require.Equal(t, device.Success, code)
		require.Equal(t, device.Success, d.MemsetD8Async(a, 1, 1<<20, 0))
		require.Equal(t, device.Success, d.MemFree(a))
		require.Positive(t, d.Now())
	})
}
