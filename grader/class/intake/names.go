package intake

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxID bounds an ID, so that a file can be named after it wherever results go. In bytes.
const maxID = 120

// identify gives every unit its ID, which depends on all units' names and not on their order.
func identify(units []*unit) {
	slices.SortFunc(units, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(safeID(a.name), safeID(b.name)), cmp.Compare(a.from, b.from))
	})
	taken := map[string]*unit{}
	var later []*unit
	for _, u := range units {
		u.id = safeID(u.name)
		if taken[fold(u.id)] == nil {
			taken[fold(u.id)] = u
		} else {
			later = append(later, u)
		}
	}
	for _, u := range later {
		first := taken[fold(u.id)]
		for n := 2; taken[fold(u.id)] != nil; n++ {
			end := "_" + strconv.Itoa(n)
			u.id = shorten(safeID(u.name), maxID-len(end)) + end
		}
		taken[fold(u.id)] = u
		note := fmt.Sprintf("Two submissions have the same name: %s is %s, and %s is %s.", first.id, show(first.from), u.id,
			show(u.from))
		first.notes = append(first.notes, note)
		u.notes = append(u.notes, note)
	}
}

// IsID reports whether a submission can have that ID. A file of that name lies in the folder where it is put.
func IsID(name string) bool { return name == safeID(name) }

// safeID makes an ID of a name.
func safeID(name string) string {
	// What is in front may hide a name that is not portable either.
	id := shorten(portable(strings.TrimLeft(portable(name), ".- ")), maxID)
	if strings.Trim(id, "_") == "" {
		return "unnamed"
	}
	return id
}

// shorten cuts a name to a number of bytes, between characters.
func shorten(name string, limit int) string {
	for len(name) > limit {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return strings.TrimRight(name, ". ")
}

// portable makes a name one that a file can have on every system.
func portable(name string) string {
	name, _ = validUTF8(name)
	name = norm.NFC.String(name)
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`<>:"/\|?*`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		case !printable(r):
			return '_'
		}
		return r
	}, name)
	name = strings.TrimRight(name, ". ")
	if stem, _, _ := strings.Cut(name, "."); reserved(strings.TrimRight(stem, " ")) {
		name = "_" + name
	}
	return cmp.Or(name, "_")
}

// reserved reports whether Windows takes a name for a device.
func reserved(stem string) bool {
	stem = strings.ToUpper(stem)
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		port, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && len([]rune(port)) == 1 && strings.ContainsAny(port, "0123456789¹²³")
}

// printable is false for controls and for what turns the direction of writing round.
func printable(r rune) bool { return unicode.IsPrint(r) }

// Fold is the same for names that people take for the same: however their letters are composed, wide or narrow, and
// whether they are capitals.
func Fold(name string) string { return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name))) }

// Words are a name's parts, folded.
func Words(name string) []string {
	name = strings.NewReplacer("'", "", "\u2019", "").Replace(Fold(name))
	return strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			!unicode.IsMark(r)
	})
}

// fold is the same for names that some file system takes for the same.
func fold(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}
