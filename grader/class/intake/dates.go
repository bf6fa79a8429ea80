package intake

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// months are what a month is called, in full and shortened, in the languages that Latin letters are enough for. None is
// in two rows; names that are a month in one language and another in the next, as listopad is, are in none.
var months = []string{
	"january jan januar januari janvier janv enero ene janeiro gennaio gen",
	"february feb februar februari février févr fév febrero fevereiro fev febbraio",
	"march mar märz maart mrt mars marzo março",
	"april apr avril avr abril abr aprile",
	"may mai mei maj mayo maio maggio mag",
	"june jun juni juin junio junho giugno giu",
	"july jul juli juillet juil julio julho luglio lug",
	"august aug augustus augusti août agosto ago",
	"september sept sep septembre septiembre setembro set settembre",
	"october oct oktober okt octobre octubre outubro out ottobre ott",
	"november nov novembre noviembre novembro",
	"december dec dezember dez décembre déc diciembre dic dezembro dicembre",
}

// mute are the words between the parts of a date that say nothing else.
var mute = strings.Fields("at of the de del à às le um uhr den kl om alle ore h 日 일")

var (
	yearFirst = regexp.MustCompile(`\b(20\d\d)(?:-|[年년] ?)(\d{1,2})(?:-|[月월] ?)(\d{1,2})`)
	halfOf    = regexp.MustCompile(`\b([ap])\.? ?m\b`)
	pieceOf   = regexp.MustCompile(`\d+|\pL+`)
)

// parseDate reads a date with its time of day in whatever language it is, where there is one thing only that it can
// mean: the month has a name, or the year stands first. The time is as in Moment.
func parseDate(text string) (at string, ok bool) {
	text = halfOf.ReplaceAllString(Fold(text), "${1}m")
	if m := yearFirst.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[2]) // it is digits
		if n < 1 || n > len(months) {
			return "", false
		}
		name, _, _ := strings.Cut(months[n-1], " ")
		text = strings.Replace(text, m[0], m[3]+" "+name+" "+m[1], 1)
	}
	year, month, half := "", 0, ""
	var numbers []string // the day, then the time
	for _, piece := range pieceOf.FindAllString(text, -1) {
		called := slices.IndexFunc(months, func(names string) bool {
			return slices.Contains(strings.Fields(names), piece)
		})
		switch {
		case piece[0] <= '9' && year == "" && len(piece) == 4:
			year = piece
		case piece[0] <= '9':
			numbers = append(numbers, piece)
		case called >= 0 && month == 0:
			month = called + 1
		case (piece == "am" || piece == "pm") && half == "":
			half = piece
		case !slices.Contains(mute, piece):
			return "", false
		}
	}
	if len(numbers) == 2 && len(numbers[1]) > 2 { // 612, for no folder can be called 6:12
		cut := len(numbers[1]) - 2
		numbers = []string{numbers[0], numbers[1][:cut], numbers[1][cut:]}
	}
	if len(numbers) != 3 || month == 0 {
		return "", false
	}
	layout := "2006 1 2 15 04"
	if half != "" {
		layout = "2006 1 2 3 04pm"
	}
	t, err := time.Parse(layout, strings.Join(append([]string{year, strconv.Itoa(month)}, numbers...), " ")+half)
	if err != nil {
		return "", false
	}
	return t.Format("2006-01-02T15:04"), true
}
