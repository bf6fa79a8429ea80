package reporttest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Kind checks one value of a JSON document.
type Kind func(v any) error

// Field is a documented field of an object.
type Field struct {
	Is       Kind
	Required bool
}

// Object is an object with the documented fields and no others.
func Object(fields map[string]Field) Kind {
	return func(v any) error {
		o, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%v is no object", v)
		}
		for name, value := range o {
			f, known := fields[name]
			if !known {
				return fmt.Errorf("the field %q is not documented", name)
			}
			if err := f.Is(value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		for name, f := range fields {
			if _, there := o[name]; f.Required && !there {
				return fmt.Errorf("the field %q is missing", name)
			}
		}
		return nil
	}
}

// List is an array whose elements are all of one kind.
func List(element Kind) Kind {
	return func(v any) error {
		all, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%v is no list", v)
		}
		for i, e := range all {
			if err := element(e); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
}

// Number is a number from low to high.
func Number(low, high float64) Kind {
	return func(v any) error {
		if n, ok := v.(float64); !ok || n < low || n > high {
			return fmt.Errorf("%v is no number from %v to %v", v, low, high)
		}
		return nil
	}
}

// Text is a string of at most so many bytes.
func Text(most int) Kind {
	return func(v any) error {
		if s, ok := v.(string); !ok || len(s) > most {
			return fmt.Errorf("%.60v is no string of at most %d bytes", v, most)
		}
		return nil
	}
}

// OneOf is one of some strings.
func OneOf(allowed ...string) Kind {
	return func(v any) error {
		if s, ok := v.(string); !ok || !slices.Contains(allowed, s) {
			return fmt.Errorf("%v is none of %q", v, allowed)
		}
		return nil
	}
}

// Bool is true or false.
func Bool(v any) error {
	if _, ok := v.(bool); !ok {
		return fmt.Errorf("%v is neither true nor false", v)
	}
	return nil
}

// Any is whatever JSON can say.
func Any(any) error { return nil }

// Check checks a document.
func Check(text []byte, is Kind) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return is(v)
}
