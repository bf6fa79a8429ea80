package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzSaid reads any text as what Slurm's commands print. Only a number can become part of a command, and every task
// counts once.
func FuzzSaid(f *testing.F) {
	for _, said := range []string{"12\n", "12;cluster\n", "", "sbatch: error: no partition\n", "Submitted batch job 12",
		"-1", "1 2", "99999999999999999999", "R\nPD\nCG\nCD\n", " R  R PD\x00", "0x1f;", "+3"} {
		f.Add(said)
	}
	f.Fuzz(func(t *testing.T, said string) {
		if number, ok := jobNumber(said); ok {
			require.Regexp(t, `^[0-9]+$`, number)
			require.Contains(t, said, number)
		}
		running, waiting := countStates(said)
		require.LessOrEqual(t, running+waiting, len(strings.Fields(said)))
		require.LessOrEqual(t, waiting, strings.Count(said, "PD"))
	})
}

// FuzzResume goes on with any bytes for a plan: by the plan that they are, or not at all.
func FuzzResume(f *testing.F) {
	for _, text := range []string{`{"parts":2,"seed":7}`, `{"parts":-1,"seed":7}`, "{}", "null", "[]", "",
		`{"parts":2,"seed":18446744073709551616}`} {
		f.Add([]byte(text), 0, uint64(0))
		f.Add([]byte(text), 2, uint64(8))
	}
	f.Fuzz(func(t *testing.T, text []byte, parts int, seed uint64) {
		job := Job{Results: filepath.Join(t.TempDir(), "results"), Parts: parts, Seed: seed}
		require.NoError(t, os.Mkdir(Folder(job.Results), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(Folder(job.Results), planFile), text, 0o600))
		if err := job.Resume(); err != nil {
			var refused *UsageError
			require.ErrorAs(t, err, &refused)
			require.True(t, strings.HasSuffix(refused.Message, "."), refused.Message)
			require.Equal(t, []any{parts, seed}, []any{job.Parts, job.Seed})
			return
		}
		require.Positive(t, job.Parts)
		require.NotZero(t, job.Seed)
		require.True(t, parts == 0 || parts == job.Parts)
		require.True(t, seed == 0 || seed == job.Seed)
		if job.Parts > 100 {
			return // prepare has something to do for each
		}
		require.NoError(t, job.prepare(true))
		again := Job{Results: job.Results}
		require.NoError(t, again.Resume(), "what is written is read again")
		require.Equal(t, []any{job.Parts, job.Seed}, []any{again.Parts, again.Seed})
	})
}

// FuzzQuote has the shell that runs the scripts read any text as one word.
func FuzzQuote(f *testing.F) {
	for _, text := range []string{"", "plain", "it's", "$(rm -rf ~)", "a b\nc", `\'`, "''"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") {
			t.Skip("no argument of a command has this")
		}
		said, err := exec.Command("sh", "-c", `printf '%s|' `+quoteAll([]string{text, "behind"})).Output()
		require.NoError(t, err)
		require.Equal(t, text+"|behind|", string(said))
	})
}
