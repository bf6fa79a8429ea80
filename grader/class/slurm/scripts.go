package slurm

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// statusErrored is the exit status of a grading in which some submissions got no grade: it is over all the same.
const statusErrored = 4

// gradeText is the job array. A task that begins anew finds the part's results and goes on with them.
func (j *Job) gradeText() string {
	dir := Folder(j.Results)
	options := []string{
		"--job-name=cudalab-grade", "--array=1-" + strconv.Itoa(j.Parts), "--ntasks=1", "--requeue", "--open-mode=append",
		"--output=" + pattern(dir) + "/%a.log",
	}
	if j.GPUsPerTask > 0 {
		options = append(options, "--gpus-per-task="+strconv.Itoa(j.GPUsPerTask))
	}
	if j.CPUsPerTask > 0 {
		options = append(options, "--cpus-per-task="+strconv.Itoa(j.CPUsPerTask))
	}
	return j.header("grades one part of a class, and goes on where it was interrupted", options) + fmt.Sprintf(`
cd %s || exit
%s --seed %d --shard "$SLURM_ARRAY_TASK_ID/%d" --resume -o "$SLURM_ARRAY_TASK_ID"
status=$?
if [ $status -eq 0 ] || [ $status -eq %d ]; then : > "%s"; fi
exit $status
`, quote(dir), quoteAll(j.Grade), j.Seed, j.Parts, statusErrored, doneFile("$SLURM_ARRAY_TASK_ID"))
}

// mergeText is the job behind the array. A class of which a part is missing must not look like a whole one.
func (j *Job) mergeText() string {
	dir := Folder(j.Results)
	options := []string{"--job-name=cudalab-merge", "--ntasks=1", "--output=" + pattern(dir) + "/" + mergeLog}
	return j.header("puts the parts' results together once all of them are done", options) + fmt.Sprintf(`
cd %[1]s || exit
for part in $(seq %[2]d); do
    if ! [ -e "%[3]s" ]; then
        echo "Part $part did not come to its end; $PWD/$part.log may say why. Go on with --resume."
        exit 1
    fi
done
rm -rf before
if [ -e %[4]s ]; then mv %[4]s before; fi
%[5]s $(seq %[2]d) -o %[4]s
status=$?
if [ $status -ne 0 ] && [ $status -ne %[6]d ] && [ -e before ]; then
    rm -rf %[4]s
    mv before %[4]s
fi
exit $status
`, quote(dir), j.Parts, doneFile("$part"), quote(j.Results), quoteAll(j.Merge), statusErrored)
}

// header is the beginning of a script, with what it asks Slurm for.
func (j *Job) header(does string, options []string) string {
	if j.Partition != "" {
		options = append(options, "--partition="+j.Partition)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# Written by cudalab grade --slurm: it %s.\n", does)
	for _, o := range append(options, j.Options...) {
		fmt.Fprintf(&b, "#SBATCH %s\n", quote(o))
	}
	return b.String()
}

// pattern is a path as sbatch takes it for the name of an output file.
func pattern(path string) string { return filepath.ToSlash(strings.ReplaceAll(path, "%", "%%")) }

// quote is a word as the shell takes it, and sbatch in its comments.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=+,./:@%", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func quoteAll(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, quote(w))
	}
	return strings.Join(quoted, " ")
}
