package markdown

import "regexp"

// folded matches what a text folds away: the summary, and what is below it. A page shows that when the reader opens it.
var folded = regexp.MustCompile(`(?ms)^<details>\n<summary>(.*?)</summary>\n\n(.*?)\n\n</details>$`)

// Unfold is a text with what it folds away, where open is true; else a line stands in its place that says what it is,
// and then the words of where, how to see it.
func Unfold(markdown string, open bool, where string) string {
	return folded.ReplaceAllStringFunc(markdown, func(block string) string {
		parts := folded.FindStringSubmatch(block)
		if open {
			return parts[2]
		}
		return "▸ **" + parts[1] + "**\n\n" + where
	})
}
