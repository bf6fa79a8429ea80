package hints

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"

	"cudalab/grader/desk/progress"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suites/course"
)

// functions tells which TODOs the function had that a finding lies in, as the exercise was handed out. A finding
// without a line, or in a function of the student's own, lies in none.
func functions(dir string, e course.Exercise) (func(progress.Finding) []string, error) {
	skeleton, err := e.Skeleton()
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, e.Name, skeleton, 0)
	if err != nil {
		return nil, err
	}
	todos := map[string][]string{}
	for _, f := range declared(file) {
		todos[name(f)] = gaps.In(f)
	}
	return func(f progress.Finding) []string {
		if f.Line == 0 {
			return nil
		}
		set := token.NewFileSet()
		// Of a file with an error, what comes before it is still of use.
		file, _ := parser.ParseFile(set, filepath.Join(dir, f.File), nil, parser.SkipObjectResolution)
		if file == nil {
			return nil
		}
		for _, decl := range declared(file) {
			if set.Position(decl.Pos()).Line <= f.Line && f.Line <= set.Position(decl.End()).Line {
				return todos[name(decl)]
			}
		}
		return nil
	}, nil
}

func declared(file *ast.File) []*ast.FuncDecl {
	var found []*ast.FuncDecl
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			found = append(found, f)
		}
	}
	return found
}

// name tells a file's functions and methods apart: "Run", "*Allocator.Free".
func name(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	return types.ExprString(f.Recv.List[0].Type) + "." + f.Name.Name
}
