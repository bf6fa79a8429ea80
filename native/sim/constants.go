package sim

import (
	"fmt"
	"reflect"

	"cudalab/native/codec"
)

// Constant is one number of a Profile, or one curve.
type Constant struct {
	Name  string // as in a file: its last part is the unit, "launch_ns"
	Value any    // points into the profile: *int, *int64, *uint64, *[2]int or *Curve
}

// Constants are all that a profile holds but its device's name, in the order of its fields.
func (p *Profile) Constants() []Constant {
	fields := reflect.ValueOf(p).Elem()
	var all []Constant
	for i := range fields.NumField() {
		if name := fields.Type().Field(i).Tag.Get("file"); name != "" {
			all = append(all, Constant{name, fields.Field(i).Addr().Interface()})
		}
	}
	return all
}

// Encode writes a profile for DecodeProfile of the same build.
func (p *Profile) Encode(w *codec.Writer) {
	w.String(p.Name)
	for _, c := range p.Constants() {
		switch v := c.Value.(type) {
		case *int:
			w.Int(int64(*v))
		case *int64:
			w.Int(*v)
		case *uint64:
			w.Uint(*v)
		case *[2]int:
			w.Int(int64(v[0]))
			w.Int(int64(v[1]))
		case *Curve:
			w.Uint(uint64(len(*v)))
			for _, point := range *v {
				w.Uint(point.Bytes)
				w.Int(point.Nanos)
			}
		default:
			panic(fmt.Sprintf("sim: constant %s is a %T", c.Name, v))
		}
	}
}

// DecodeProfile reads what Encode wrote. What is damaged is the reader's to tell; whether the numbers make sense was
// asked where they came from.
func DecodeProfile(r *codec.Reader) *Profile {
	p := &Profile{Name: r.String()}
	for _, c := range p.Constants() {
		switch v := c.Value.(type) {
		case *int:
			*v = int(r.Int())
		case *int64:
			*v = r.Int()
		case *uint64:
			*v = r.Uint()
		case *[2]int:
			*v = [2]int{int(r.Int()), int(r.Int())}
		case *Curve:
			for range r.Len(2) {
				*v = append(*v, Point{r.Uint(), r.Int()})
			}
		}
	}
	return p
}
