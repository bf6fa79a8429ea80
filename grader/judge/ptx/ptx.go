// Package ptx is a small compiler: it translates a function of Go that reckons with integers and booleans into PTX, the
// assembly language that NVIDIA's driver loads, so that the threads of a GPU carry out a student's own function.
//
// The functions and closures that it calls are written out in place. So there is one function of PTX, without calls and
// without memory of its own: each variable of Go is a 64-bit register, which holds a narrower number extended to its
// type. The only memory it comes to is what a contract.Word stands for, by the word's three atomic operations.
//
// What Go ends with a panic, and a loop that does not end, cannot end that way in a thread, where a trap would take the
// whole context along. A translated function answers a Status instead.
//
// The files in the order in which to read them: ptx, statement, call, expression, emit.
package ptx

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"strings"
)

// Status is how a translated function has ended.
type Status uint64

const (
	Returned Status = iota
	TooManyTurns
	DividedByZero
	ShiftedByNegative
	Panicked
)

// Turns is how often the loops of one call may go round, all together.
const Turns = 1 << 16

// maxText is how long a translation may be, in bytes. Calls are written out in place, so it could grow without bounds.
const maxText = 1 << 20

// A Refusal is something in the source that a thread of a GPU does not have.
type Refusal struct {
	Position token.Position
	Function string // in which it stands
	What     string // completes "here is …"
	Instead  string // what to write in its place, a sentence; may be empty
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: here is %s", r.Position, r.What) }

// Translate answers a function of PTX that does what the package's function name does. It is a .func called entry,
// whose parameters and results are 64-bit registers in the order of Go's, with a Status as one more result. A
// contract.Word is a generic address of 8 bytes. An error is a *Refusal, or what keeps the files from being read.
func Translate(files map[string][]byte, name, entry string) (string, error) {
	return translate(files, name, entry, false)
}

// Explain answers the same with the line of Go that each part comes of, as a comment, for people to read.
func Explain(files map[string][]byte, name, entry string) (string, error) {
	return translate(files, name, entry, true)
}

func translate(files map[string][]byte, name, entry string, explained bool) (string, error) {
	t := &translator{files: files, explained: explained,
		set: token.NewFileSet(),
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}},
		functions: map[types.Object]*ast.FuncDecl{},
		literals:  map[types.Object]*ast.FuncLit{},
		registers: map[types.Object]register{},
	}
	if err := t.load(files); err != nil {
		return "", err
	}
	for object, declared := range t.functions {
		if object.Name() == name && declared.Recv == nil {
			return t.translate(declared, entry)
		}
	}
	return "", fmt.Errorf("there is no function %s", name)
}

type translator struct {
	files     map[string][]byte
	explained bool
	set       *token.FileSet
	info      *types.Info
	functions map[types.Object]*ast.FuncDecl
	literals  map[types.Object]*ast.FuncLit // of variables that hold one closure from their declaration on
	registers map[types.Object]register
	calls     []*activation // those that are being written out, innermost last
	text      strings.Builder
	used      struct{ b64, b32, pred, label int }
}

// load reads and types the files. What has to do with other packages stays without a type, which is told where it is
// met.
func (t *translator) load(files map[string][]byte) error {
	var parsed []*ast.File
	for name, text := range files {
		file, err := parser.ParseFile(t.set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	conf := types.Config{Importer: given{}, Error: func(error) {}}
	conf.Check("p", t.set, parsed, t.info) // its errors are elsewhere, or come to be told as invalid types
	for _, file := range parsed {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				t.functions[t.info.Defs[f.Name]] = f
			}
		}
	}
	return nil
}

// given imports what of other packages a translated function may name: the contract's Word and NoRoom, and the limits
// of integers.
type given struct{}

const contractPath = "cudalab/exercises/contract"

const contractText = `package contract
type Word interface {
	Load() uint64
	Add(value uint64) (old uint64)
	CompareAndSwap(compare, value uint64) (old uint64)
}
const NoRoom uint64 = 1<<64 - 1`

func (given) Import(path string) (*types.Package, error) {
	switch path {
	case contractPath:
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, contractText, 0)
		if err != nil {
			return nil, err
		}
		return new(types.Config).Check(path, set, []*ast.File{file}, nil)
	case "math":
		p := types.NewPackage(path, path)
		for name, value := range limits {
			p.Scope().Insert(types.NewConst(token.NoPos, p, name, types.Typ[types.UntypedInt], value))
		}
		p.MarkComplete()
		return p, nil
	}
	return nil, fmt.Errorf("%s is not for threads of a GPU", path)
}

var limits = map[string]constant.Value{
	"MaxInt": constant.MakeInt64(math.MaxInt), "MinInt": constant.MakeInt64(math.MinInt),
	"MaxInt8": constant.MakeInt64(math.MaxInt8), "MinInt8": constant.MakeInt64(math.MinInt8),
	"MaxInt16": constant.MakeInt64(math.MaxInt16), "MinInt16": constant.MakeInt64(math.MinInt16),
	"MaxInt32": constant.MakeInt64(math.MaxInt32), "MinInt32": constant.MakeInt64(math.MinInt32),
	"MaxInt64": constant.MakeInt64(math.MaxInt64), "MinInt64": constant.MakeInt64(math.MinInt64),
	"MaxUint": constant.MakeUint64(math.MaxUint), "MaxUint8": constant.MakeUint64(math.MaxUint8),
	"MaxUint16": constant.MakeUint64(math.MaxUint16), "MaxUint32": constant.MakeUint64(math.MaxUint32),
	"MaxUint64": constant.MakeUint64(math.MaxUint64),
}

// translate writes the function out. A refusal is thrown from wherever it is met, and caught here.
func (t *translator) translate(f *ast.FuncDecl, entry string) (text string, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Refusal:
			text, err = "", r
		default:
			panic(r)
		}
	}()
	signature := t.info.Defs[f.Name].Type().(*types.Signature)
	parameters := t.parameters(f.Recv, f.Type)
	results := make([]string, signature.Results().Len())
	for i := range results {
		results[i] = fmt.Sprintf(".reg .b64 result%d", i)
	}
	takes := make([]string, len(parameters))
	t.emit("mov.u64 status, %d", Returned)
	t.emit("mov.u64 turns, %d", Turns)
	for i, p := range parameters {
		takes[i] = fmt.Sprintf(".reg .b64 parameter%d", i)
		if p != nil {
			t.kind(f.Name, p.Type())
			t.emit("mov.b64 %s, parameter%d", t.variable(p), i)
		}
	}
	answers := t.writeOut(t.functionCall(f, signature))
	for i, a := range answers {
		t.emit("mov.b64 result%d, %s", i, a)
	}
	t.label("end")
	t.emit("ret")

	var b strings.Builder
	fmt.Fprintf(&b, ".func (%s) %s(%s)\n{\n", strings.Join(append(results, ".reg .b64 status"), ", "), entry,
		strings.Join(takes, ", "))
	fmt.Fprintf(&b, "\t.reg .b64 turns, %%rd<%d>;\n\t.reg .b32 %%r<%d>;\n\t.reg .pred %%p<%d>;\n",
		t.used.b64+1, t.used.b32+1, t.used.pred+1)
	b.WriteString(t.text.String())
	b.WriteString("}\n")
	return b.String(), nil
}

// refuse ends the translation.
func (t *translator) refuse(at ast.Node, instead, what string, args ...any) {
	panic(&Refusal{t.set.Position(at.Pos()), t.calls[len(t.calls)-1].name, fmt.Sprintf(what, args...), instead})
}
