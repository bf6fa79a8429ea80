package compile

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
)

// A translation puts one of the compiler's messages in plain words. Its function gets the pattern's submatches.
type translation struct {
	pattern *regexp.Regexp
	words   func(m []string, f *file, api *api) string
}

// say is a translation that only fills the submatches in.
func say(pattern, format string) translation {
	return translation{regexp.MustCompile(pattern), func(m []string, _ *file, _ *api) string {
		var args []any
		for _, group := range m[1:] {
			args = append(args, group)
		}
		return fmt.Sprintf(format, args...)
	}}
}

func explained(pattern string, words func(m []string, f *file, api *api) string) translation {
	return translation{regexp.MustCompile(pattern), words}
}

// translations are tried in order. Their patterns are those of the compiler of Go 1.26.
var translations = sync.OnceValue(func() []translation {
	return []translation{
		say(`^declared and not used: (\S+)`,
			"The variable %s gets a value that nothing reads. Go refuses that, because it is often a slip: use it, or "+
				"remove it. If it is an error, it should be checked."),
		say(`^"([^"]+)" imported (?:as \S+ )?and not used`,
			"Nothing in this file uses the package %q. Remove the import, or use it."),
		explained(`^undefined: (\w+)\.(\w+)`, undefinedInPackage),
		say(`^name (\w+) not exported by package (\w+)`,
			"%[1]s begins with a small letter, so only package %[2]s itself can use it. What a package offers begins with a "+
				"capital."),
		explained(`^undefined: (\w+)`, undefinedName),
		say(`^\S+ undefined \(type (.+) has no field or method (\w+), but does have (?:field|method) (\w+)\)`,
			"The type %s has no %s, but it has %s. Capitals count in Go."),
		say(`^\S+ undefined \(type (.+) has no field or method (\w+)`,
			"The type %s has no field and no method called %s. Look for the name where the type is declared."),
		say(`^missing return`,
			"The function promises a result, but one way through it reaches the closing brace without a return statement. "+
				"Return something there; nil says that there was no error."),
		say(`^cannot use nil as (\S+) value`, "nil means that nothing is there, and a %s always has a value: write one of "+
			"that type."),
		explained(`^cannot use (.+?) \((?:.*?)(?: of (?:\w+ )?type (\S.*?))?\) as (\S.*?) value in (.+)`, cannotUse),
		explained(`^invalid operation: (.+) \(mismatched types (.+) and (.+)\)`, mismatchedTypes),
		say(`^no new variables on left side of :=`,
			"The sign := declares variables, but all of these exist already. Write = to give them new values."),
		say(`^assignment mismatch: (.+) but (.+) returns (.+)`,
			"On the left there is room for %s, but %s returns %s. Every result needs a place on the left; write _ for one that "+
				"you do not need, though never for an error."),
		say(`^assignment mismatch: (.+) but (.+)`,
			"There are %s on the left but %s on the right: each needs its counterpart."),
		say(`^(not enough|too many) arguments in call to (\S+)`,
			"The call gives %s arguments to %s. Behind \"have\" is what the call gives, behind \"want\" what the function "+
				"takes."),
		say(`^(not enough|too many) return values`,
			"The return statement gives %s results. Behind \"have\" is what it gives, behind \"want\" what the function "+
				"promises in its first line."),
		say(`^(\S+) redeclared in this block`,
			"There are two declarations of %s. Remove or rename one of them; all files in the folder share one set of names."),
		say(`^method (\S+) already declared at`, "There are two methods %s. Remove or rename one of them."),
		say(`^missing ',' before newline`, "A list that goes on over several lines needs a comma behind its last line "+
			"as well."),
		say(`^(.+) \(.*\) is not used`,
			"The value of %s is computed and then dropped. Assign it, return it, or remove the line."),
		say(`^cannot use (.+) as value: .*`, "%s is not a value, so it cannot be used as one."),
		say(`^(\S+) \(type\) is not an expression`, "%s is a type, and a value is needed here: a type in front of braces "+
			"makes one."),
		say(`^non-boolean condition in (\w+) statement`,
			"The condition of %s has to be true or false; Go does not take a number or an error for that. Compare it: err "+
				"!= nil."),
		say(`^invalid operation: (.+) \(.*\) is not an interface`,
			"%s has one known type already, so there is nothing to assert."),
		say(`^invalid operation: operator (\S+) not defined on (.+) \(`, "The operator %s does not work on values like %s."),
		say(`^invalid operation: cannot call (\S+) \(`, "%s is not a function, so it cannot be called with parentheses."),
		say(`^cannot assign to (.+?) \(`, "%s is not something that can be given a new value."),
		say(`^(.+) \(untyped .+ constant\) (?:truncated|overflows) (?:to )?(\S+)`,
			"The number %s does not fit into type %s."),
		say(`^(\S+) returns (?:no|\d+) values? but`, "%s returns another number of values than are used here."),
		say(`^(.+) \(no value\) used as value`, "%s returns nothing, so there is nothing to use."),
		say(`^label (\S+) defined and not used`, "Nothing jumps to the label %s. Remove it."),
		say(`^import cycle not allowed`, "Two packages import each other, which Go does not allow."),
	}
})

// plain are plain words for a message, or "".
func plain(message string, f *file, api *api) string {
	first, _, _ := strings.Cut(message, "\n")
	for _, t := range translations() {
		if m := t.pattern.FindStringSubmatch(first); m != nil {
			return t.words(m, f, api)
		}
	}
	return ""
}

func undefinedInPackage(m []string, f *file, api *api) string {
	name, member := m[1], m[2]
	p := f.imports[name]
	if p == "" {
		return fmt.Sprintf("%s has nothing called %s.", name, member)
	}
	words := fmt.Sprintf("Package %s has nothing called %s.", path.Base(p), member)
	if best := nearest(member, api.exported(p)); best != "" {
		return fmt.Sprintf("%s Did you mean %s.%s?", words, name, best)
	}
	return words
}

func undefinedName(m []string, f *file, api *api) string {
	name := m[1]
	// cudaMallocAsync is C's name of what package cuda calls MallocAsync.
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "cuda"), "cu")
	for _, p := range api.courses {
		names := api.exported(p)
		if _, ok := names[plain]; ok {
			return fmt.Sprintf("There is nothing called %s here. Did you mean %s.%s? A package's name goes in front of what it "+
				"offers.", name, path.Base(p), plain)
		}
	}
	for _, p := range slices.Concat(api.courses, standard) {
		if path.Base(p) == name {
			return fmt.Sprintf("The package %s is not imported in this file. Add %q to its imports.", name, p)
		}
	}
	return fmt.Sprintf("There is nothing called %s here. Check its spelling and its capitals, and that it is declared "+
		"where this line can see it: a variable declared inside braces ends with them.", name)
}

var integer = regexp.MustCompile(`^u?int(8|16|32|64|ptr)?$`)

var number = regexp.MustCompile(`^(u?int(8|16|32|64|ptr)?|byte|float(32|64)|(cuda\.)?DevicePtr)$`)

func cannotUse(m []string, _ *file, _ *api) string {
	value, have, want, detail := m[1], m[2], m[3], m[4]
	switch {
	case strings.HasSuffix(detail, "(truncated)"), strings.HasSuffix(detail, "(overflows)"):
		return fmt.Sprintf("The number %s does not fit into type %s.", value, want)
	case number.MatchString(have) && number.MatchString(want):
		return fmt.Sprintf("%s is of type %s, and %s is needed. Go never converts numbers by itself, because the other "+
			"type may hold less: write %s.", value, have, want, conversion(want, value))
	case have == "[]byte" && strings.HasSuffix(want, "HostMemory"):
		return fmt.Sprintf("A copy needs to know what kind of host memory it gets: write cuda.Pageable(%s) for a Go slice.",
			value)
	case want == "error":
		return fmt.Sprintf("An error is needed here, and %s is none. errors.New and fmt.Errorf make errors of texts.", value)
	case have == "":
		return fmt.Sprintf("%s cannot become a value of type %s by itself.", value, want)
	}
	return fmt.Sprintf("%s is of type %s, and a value of type %s is needed here.", value, have, want)
}

func mismatchedTypes(m []string, _ *file, _ *api) string {
	operation, left, right := m[1], m[2], m[3]
	if !number.MatchString(left) || !number.MatchString(right) {
		return fmt.Sprintf("One side is of type %s and the other of type %s. Both sides of an operator need the same type.",
			left, right)
	}
	wider := left
	if width(right) > width(left) {
		wider = right
	}
	return fmt.Sprintf("In %s one side is of type %s and the other of type %s. Go never converts numbers by itself: "+
		"convert one side, as in %s.", operation, left, right, conversion(wider, "…"))
}

// conversion is the expression that turns a value into a type.
func conversion(to, value string) string { return to + "(" + value + ")" }

// width orders number types by what they hold.
func width(t string) int {
	switch {
	case strings.HasSuffix(t, "DevicePtr"):
		return 5
	case strings.HasPrefix(t, "float"):
		return 4
	case strings.HasSuffix(t, "64"):
		return 3
	case t == "int" || t == "uint":
		return 2
	case integer.MatchString(t):
		return 1
	}
	return 0
}

// nearest is the name that a misspelt one most likely stands for, or "".
func nearest(name string, names map[string]bool) string {
	if len(name) > 64 {
		return ""
	}
	best, fewest := "", len(name)/3+1
	for candidate := range names {
		if strings.EqualFold(candidate, name) {
			return candidate
		}
		d := levenshtein.ComputeDistance(name, candidate)
		if c := cmp.Compare(d, fewest); c < 0 || c == 0 && (best == "" || candidate < best) {
			best, fewest = candidate, d
		}
	}
	return best
}
