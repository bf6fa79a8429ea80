package ptx

import (
	"fmt"
	"go/ast"
	"go/types"
)

// A register holds 64 bits: an integer extended to its type, 0 or 1 for a boolean, or a word's address.
type register string

// kind is what a register holds.
type kind struct {
	bits   int // of an integer; 1 is a boolean, 0 a word
	signed bool
}

var (
	boolean = kind{bits: 1}
	word    = kind{}
	int64s  = kind{64, true}
	uint64s = kind{64, false}
)

// suffix is the type that an instruction names where it matters.
func (k kind) suffix() string {
	if k.signed {
		return "s64"
	}
	return "u64"
}

// kind is how values of a type are held; what threads do not have is refused.
func (t *translator) kind(at ast.Node, of types.Type) kind {
	if of == nil {
		t.refuse(at, "", "something from another package")
	}
	if types.TypeString(of, nil) == contractPath+".Word" {
		return word
	}
	switch u := of.Underlying().(type) {
	case *types.Basic:
		switch u.Kind() {
		case types.Bool, types.UntypedBool:
			return boolean
		case types.Int, types.Int64, types.UntypedInt, types.UntypedRune:
			return int64s
		case types.Int8:
			return kind{8, true}
		case types.Int16:
			return kind{16, true}
		case types.Int32:
			return kind{32, true}
		case types.Uint, types.Uint64, types.Uintptr:
			return uint64s
		case types.Uint8:
			return kind{8, false}
		case types.Uint16:
			return kind{16, false}
		case types.Uint32:
			return kind{32, false}
		case types.Invalid:
			t.refuse(at, "", "something from another package")
		case types.String, types.UntypedString:
			t.refuse(at, "", "a string")
		default:
			t.refuse(at, "Reckon with integers.", "a number of type %s", of)
		}
	case *types.Slice:
		t.refuse(at, "A thread has numbers alone: do without the list.", "a slice")
	case *types.Array:
		t.refuse(at, "A thread has numbers alone: use a variable for each element.", "an array")
	case *types.Struct:
		t.refuse(at, "Use a variable for each field.", "a struct")
	case *types.Pointer:
		t.refuse(at, "Answer the value, and assign it where you call.", "a pointer")
	case *types.Map:
		t.refuse(at, "", "a map")
	case *types.Signature:
		t.refuse(at, "Call it where it stands.", "a function that is kept or handed on")
	case *types.Chan:
		t.refuse(at, "", "a channel")
	}
	t.refuse(at, "", "a value of type %s", types.TypeString(of, func(p *types.Package) string { return p.Name() }))
	panic("unreachable")
}

// variable is where a variable is held.
func (t *translator) variable(v types.Object) register {
	r, ok := t.registers[v]
	if !ok {
		r = t.fresh()
		t.registers[v] = r
	}
	return r
}

func (t *translator) fresh() register {
	t.used.b64++
	return register(fmt.Sprintf("%%rd%d", t.used.b64))
}

func (t *translator) predicate() string {
	t.used.pred++
	return fmt.Sprintf("%%p%d", t.used.pred)
}

func (t *translator) newLabel() string {
	t.used.label++
	return fmt.Sprintf("at%d", t.used.label)
}

func (t *translator) emit(format string, args ...any) {
	fmt.Fprintf(&t.text, "\t"+format+";\n", args...)
}

func (t *translator) label(name string) { fmt.Fprintf(&t.text, "%s:\n", name) }

// do emits an instruction whose result goes into a new register.
func (t *translator) do(instruction string, operands ...any) register {
	r := t.fresh()
	t.emit("%s %s%s", instruction, r, list(operands))
	return r
}

func list(operands []any) (text string) {
	for _, o := range operands {
		text += fmt.Sprintf(", %v", o)
	}
	return text
}

// test is a predicate: whether two operands compare so.
func (t *translator) test(comparison string, a, b any) string {
	p := t.predicate()
	t.emit("setp.%s %s, %v, %v", comparison, p, a, b)
	return p
}

// jumpIf goes to a label where a predicate holds.
func (t *translator) jumpIf(p, label string) { t.emit("@%s bra %s", p, label) }

func (t *translator) jump(label string) { t.emit("bra %s", label) }

// endIf ends the whole function with a status where a predicate holds.
func (t *translator) endIf(p string, s Status) {
	t.emit("@%s mov.u64 status, %d", p, s)
	t.jumpIf(p, "end")
}

// back jumps to where a loop begins, one turn later.
func (t *translator) back(label string) {
	t.emit("sub.u64 turns, turns, 1")
	t.endIf(t.test("eq.u64", "turns", 0), TooManyTurns)
	t.jump(label)
}

// wrapped is a register with a result extended from the bits of its kind, as Go has it wrap around.
func (t *translator) wrapped(r register, k kind) register {
	if k.bits == 64 || k.bits < 8 {
		return r
	}
	return t.do("shr."+k.suffix(), t.do("shl.b64", r, 64-k.bits), 64-k.bits)
}
