package edits

import (
	"fmt"
	"go/ast"
	"strings"
)

// Signature is a function's, with names of our own: for a function that hands a call on to another form of it.
type Signature struct {
	Receiver, Through              string // "(r_ *Pool) ", "r_."; "" where there is none
	Types, Instance                string // "[T any]", "[T]"; "" where there are none
	Parameters, Arguments, Results string
	Named                          []string // the results
	Failed                         string   // the result that is an error; "" where none is
}

// SignatureOf is the signature of a function. Text is the source of a node.
func SignatureOf(f *ast.FuncDecl, text func(ast.Node) string) (s Signature) {
	if f.Recv != nil {
		s.Receiver, s.Through = "(r_ "+text(f.Recv.List[0].Type)+") ", "r_."
	}
	if f.Type.TypeParams != nil {
		var declared, names []string
		for _, field := range f.Type.TypeParams.List {
			for _, name := range field.Names {
				declared, names = append(declared, name.Name+" "+text(field.Type)), append(names, name.Name)
			}
		}
		s.Types, s.Instance = "["+strings.Join(declared, ", ")+"]", "["+strings.Join(names, ", ")+"]"
	}
	var parameters, arguments, results []string
	for _, field := range f.Type.Params.List {
		for range max(1, len(field.Names)) {
			name := fmt.Sprintf("p%d", len(parameters))
			parameters = append(parameters, name+" "+text(field.Type))
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				name += "..."
			}
			arguments = append(arguments, name)
		}
	}
	if f.Type.Results != nil {
		for _, field := range f.Type.Results.List {
			for range max(1, len(field.Names)) {
				name := fmt.Sprintf("r%d", len(s.Named))
				s.Named = append(s.Named, name)
				results = append(results, name+" "+text(field.Type))
				if text(field.Type) == "error" {
					s.Failed = name
				}
			}
		}
	}
	s.Parameters, s.Arguments = strings.Join(parameters, ", "), strings.Join(arguments, ", ")
	s.Results = strings.Join(results, ", ")
	return s
}

// Call is the statement by which the function ends that hands its call on to a function of that name.
func (s Signature) Call(name string) string {
	if len(s.Named) == 0 {
		return fmt.Sprintf("%s%s%s(%s)\nreturn\n", s.Through, name, s.Instance, s.Arguments)
	}
	return fmt.Sprintf("return %s%s%s(%s)\n", s.Through, name, s.Instance, s.Arguments)
}
