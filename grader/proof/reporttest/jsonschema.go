package reporttest

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Schema is a JSON Schema (draft 4, http://json-schema.org/draft-04/schema) as a Kind. A keyword that it does not know
// fails every value, so that nothing passes for not having been looked at.
func Schema(text []byte) (Kind, error) {
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	s := schema{root: root, patterns: map[string]*regexp.Regexp{}}
	return func(v any) error { return s.check(root, v) }, nil
}

type schema struct {
	root     map[string]any
	patterns map[string]*regexp.Regexp
}

// check holds a value to one schema of the document.
func (s *schema) check(rule map[string]any, v any) error {
	if to, ok := rule["$ref"].(string); ok {
		target, err := s.definition(to)
		if err != nil {
			return err
		}
		return s.check(target, v)
	}
	for keyword, want := range rule {
		if err := s.keyword(keyword, want, rule, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) definition(ref string) (map[string]any, error) {
	at := any(s.root)
	for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(map[string]any)[name]
	}
	found, ok := at.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the schema has no %s", ref)
	}
	return found, nil
}

func (s *schema) keyword(keyword string, want any, rule map[string]any, v any) error {
	switch keyword {
	case "$schema", "id", "title", "description", "default", "definitions", "format":
		return nil // format is for people here: what is no URI is not told apart
	case "type":
		return s.kind(want, v)
	case "enum":
		if !slices.ContainsFunc(want.([]any), func(e any) bool { return reflect.DeepEqual(e, v) }) {
			return fmt.Errorf("%v is none of %v", v, want)
		}
		return nil
	case "allOf", "anyOf", "oneOf":
		return s.combined(keyword, want.([]any), v)
	case "not":
		if s.check(want.(map[string]any), v) == nil {
			return fmt.Errorf("%v is what it must not be", v)
		}
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return s.object(keyword, want, rule, v)
	case []any:
		return s.array(keyword, want, v)
	case string:
		return s.text(keyword, want, v)
	case float64:
		return number(keyword, want, v)
	}
	return nil
}

func (s *schema) kind(want, v any) error {
	kinds, several := want.([]any)
	if !several {
		kinds = []any{want}
	}
	for _, k := range kinds {
		n, isNumber := v.(float64)
		_, isObject := v.(map[string]any)
		_, isArray := v.([]any)
		_, isText := v.(string)
		_, isBool := v.(bool)
		if k == "object" && isObject || k == "array" && isArray || k == "string" && isText || k == "boolean" && isBool ||
			k == "null" && v == nil || k == "number" && isNumber || k == "integer" && isNumber && n == math.Trunc(n) {
			return nil
		}
	}
	return fmt.Errorf("%.60v is no %v", v, want)
}

func (s *schema) combined(keyword string, all []any, v any) error {
	holds, last := 0, error(nil)
	for _, one := range all {
		if err := s.check(one.(map[string]any), v); err != nil {
			last = err
		} else {
			holds++
		}
	}
	if keyword == "anyOf" && holds > 0 || keyword == "oneOf" && holds == 1 || keyword == "allOf" && holds == len(all) {
		return nil
	}
	return fmt.Errorf("%d of %d hold for %s: %w", holds, len(all), keyword, last)
}

func (s *schema) object(keyword string, want any, rule map[string]any, v map[string]any) error {
	known, _ := rule["properties"].(map[string]any)
	switch keyword {
	case "properties":
		for name, value := range v {
			if field, ok := known[name].(map[string]any); ok {
				if err := s.check(field, value); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	case "required":
		for _, name := range want.([]any) {
			if _, there := v[name.(string)]; !there {
				return fmt.Errorf("the field %q is missing", name)
			}
		}
	case "additionalProperties":
		other, isSchema := want.(map[string]any)
		for name, value := range v {
			if _, ok := known[name]; ok || want == true {
				continue
			}
			if !isSchema {
				return fmt.Errorf("the field %q is not in the schema", name)
			}
			if err := s.check(other, value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	default:
		return unknown(keyword)
	}
	return nil
}

func (s *schema) array(keyword string, want any, v []any) error {
	switch keyword {
	case "items":
		for i, e := range v {
			if err := s.check(want.(map[string]any), e); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case "minItems":
		if float64(len(v)) < want.(float64) {
			return fmt.Errorf("%d elements are fewer than %v", len(v), want)
		}
	case "uniqueItems":
		for i := range v {
			if slices.ContainsFunc(v[:i], func(e any) bool { return reflect.DeepEqual(e, v[i]) }) {
				return fmt.Errorf("[%d] is there twice", i)
			}
		}
	default:
		return unknown(keyword)
	}
	return nil
}

func (s *schema) text(keyword string, want any, v string) error {
	switch keyword {
	case "pattern":
		p := s.patterns[want.(string)]
		if p == nil {
			var err error
			if p, err = regexp.Compile(want.(string)); err != nil {
				return err
			}
			s.patterns[want.(string)] = p
		}
		if !p.MatchString(v) {
			return fmt.Errorf("%q does not match %s", v, want)
		}
	case "minLength":
		if float64(utf8.RuneCountInString(v)) < want.(float64) {
			return fmt.Errorf("%q is shorter than %v", v, want)
		}
	default:
		return unknown(keyword)
	}
	return nil
}

func number(keyword string, want any, v float64) error {
	switch keyword {
	case "minimum":
		if v < want.(float64) {
			return fmt.Errorf("%v is less than %v", v, want)
		}
	case "maximum":
		if v > want.(float64) {
			return fmt.Errorf("%v is more than %v", v, want)
		}
	default:
		return unknown(keyword)
	}
	return nil
}

func unknown(keyword string) error { return fmt.Errorf("the keyword %s is not known here", keyword) }
