package site

import "regexp"

// here has a text say what is to be done in the page where it says what a command line would do. What only a command
// line can do says so.
func here(markdown string) string {
	for _, c := range commands {
		markdown = c.said.ReplaceAllString(markdown, c.instead)
	}
	return markdown
}

const pictures = "**Pictures of your streams and memory**"

var commands = []struct {
	said    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile("Edit\\s+`exercises/[^`]+`"), "Edit the code beside this text"},
	{regexp.MustCompile("(?i)run\\s+`cudalab check [\\w-]+`"), "press **Check**"},
	{regexp.MustCompile("```sh\ncudalab check [\\w-]+ --html page.html\n```"),
		"Press **Check**, and then " + pictures + " below the verdict."},
	{regexp.MustCompile("`cudalab check [\\w-]+ --html page.html`\\s+draws"), pictures + ", below the verdict, draws"},
	{regexp.MustCompile("With `--html page.html` it draws"), pictures + ", below it, draws"},
	{regexp.MustCompile("`cudalab check [\\w-]+`\\s+shows"), "The verdict shows"},
	{regexp.MustCompile("```sh\n(cudalab prove [\\w-]+)\n```"),
		"The check does: with each fault of order that it finds comes a film. On a command line `$1` does more."},
	{regexp.MustCompile("`cudalab prove [\\w-]+`\\s+shows"), "The film of that finding shows"},
	{regexp.MustCompile("With\\s+`--trace run.json` you get"), "On a command line `--trace run.json` gives you"},
	{regexp.MustCompile("(`cudalab check [\\w-]+ --trace run.json`|`--trace run.json` is)"), "On a command line $1"},
	{regexp.MustCompile("`solutions/[^`]+`, once your own passes,\\s+with\\s+\\[why it is written so\\]\\([^)]*\\)"),
		"The tab **Solution**, once your own passes, with why it is written so"},
}
