package relations

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/edits"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/suite"
	"cudalab/grader/suites/course"
)

const root = "../../.."

func TestEveryRelationIsAskedOrSaidWhyNot(t *testing.T) {
	c, err := course.Open(root)
	require.NoError(t, err)
	for _, e := range c.Exercises {
		t.Run(e.Name, func(t *testing.T) {
			solution, err := corpus.Find(c.Root, e.Package, string(corpus.Solution))
			require.NoError(t, err)
			a := exported(t, e.Package, solution.Text)
			for _, r := range all {
				claim, said := own[e.Package][r]
				if !a.has[r] {
					require.False(t, said, "%s: the exercise has nothing of the kind, and this is said of it: %s", r, claim)
					continue
				}
				if !said {
					claim = byKit[r]
				}
				require.NotEmpty(t, claim, "%s: relations.go has to say where it is asked, or why not", r)
				a.require(t, e, r, claim)
			}
		})
	}
	names := slices.Collect(func(yield func(string) bool) {
		for _, e := range c.Exercises {
			if !yield(e.Package) {
				return
			}
		}
	})
	require.Subset(t, names, slices.Collect(maps.Keys(own)))
}

// require has a claim be true.
func (a *api) require(t *testing.T, e course.Exercise, r relation, claim string) {
	switch {
	case strings.HasPrefix(claim, none):
		require.Greater(t, len(claim), len(none), "%s: a reason", r)
	case strings.HasPrefix(claim, program):
		_, err := corpus.Find(root, e.Package, claim)
		require.NoError(t, err, "%s", r)
	case strings.HasPrefix(claim, inCase):
		require.True(t, slices.ContainsFunc(e.Suite.Cases, func(c suite.Case) bool {
			is, err := path.Match(strings.TrimPrefix(claim, inCase), c.ID)
			require.NoError(t, err)
			return is
		}), "%s: there is no %s", r, claim)
	case claim == lent:
		text := suiteText(t, e.Package)
		for _, slice := range a.slices {
			lends := regexp.MustCompile(`Given(Of)?\([^,]+, "([a-z]+\.)?` + regexp.QuoteMeta(slice) + `"`)
			require.True(t, lends.MatchString(text), "%s: nobody lends %s", r, slice)
		}
	default:
		require.Fail(t, "no claim", "%s: %s", r, claim)
	}
}

// suiteText is all Go of a lesson's suite.
func suiteText(t *testing.T, exercisePackage string) string {
	files, err := filepath.Glob(filepath.Join(root, "grader/suites", exercisePackage, "*.go"))
	require.NoError(t, err)
	var b strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		b.Write(text)
	}
	return b.String()
}

// api is what an exercise exports, as far as relations can be between what it is given.
type api struct {
	has    map[relation]bool
	slices []string // by the names of parameters, and of fields in them
}

func exported(t *testing.T, exercisePackage, text string) *api {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	require.NoError(t, err)
	var imports []string
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		imports = append(imports, name)
	}
	importer, err := edits.Compiled(root, set, imports...)
	require.NoError(t, err)
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	_, err = (&types.Config{Importer: importer}).Check("cudalab/exercises/"+exercisePackage, set, []*ast.File{file}, info)
	require.NoError(t, err)
	a := &api{has: map[relation]bool{Alike: true}}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Name.IsExported() && ast.IsExported(receiver(f)) {
			a.add(info.Defs[f.Name].(*types.Func))
		}
	}
	return a
}

// receiver is the type that a function is a method of; of none its own name.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// add adds the relations that there may be where a function is called.
func (a *api) add(f *types.Func) {
	if f.Signature().Recv() != nil {
		a.has[Alive], a.has[Order] = true, true
		a.has[AfterClose] = a.has[AfterClose] || f.Name() == "Close"
	}
	things := map[string]int{} // that there can be two of, by their types
	for v := range f.Signature().Params().Variables() {
		a.value(v.Name(), v.Type(), things)
	}
	for _, n := range things {
		a.has[Aliased] = a.has[Aliased] || n > 1
	}
	results := f.Signature().Results()
	if n := results.Len(); n > 0 && results.At(n-1).Type().String() == "error" {
		a.has[AfterError] = true
		a.has[BesideError] = a.has[BesideError] || n > 1
	}
}

// value adds the relations in which a value may be that is given.
func (a *api) value(name string, t types.Type, things map[string]int) {
	a.has[Device] = a.has[Device] || strings.EqualFold(name, "device")
	switch u := t.Underlying().(type) {
	case *types.Slice:
		a.slices = append(a.slices, name)
		a.has[Changed], a.has[Appended] = true, true
		things[thing(u.Elem())] += 2
	case *types.Array:
		things[thing(u.Elem())] += int(u.Len())
	case *types.Signature, *types.Interface:
		a.has[Callback] = true
	case *types.Struct:
		if thing(t) != "" {
			things[thing(t)]++
			break
		}
		for v := range u.Fields() {
			a.value(v.Name(), v.Type(), things)
		}
	default:
		things[thing(t)]++
	}
	delete(things, "")
}

// thing is the name of a type of package cuda's, whose values stand for something; "" for any other.
func thing(t types.Type) string {
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Name() == "cuda" {
		return named.Obj().Name()
	}
	return ""
}
