package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of the product.
type mutant struct {
	// name says what is changed and where, and stays the same while other places change.
	name string
	// dir is the folder of the package, or of the state machines.
	dir string
	// machine is the file of a state machine with the text that replaces it; "" for a Go mutant.
	machine string
	text    []byte
}

// activePath is the folder of the package that the copy's mutated places import, under a name that nothing else has.
const activePath, activeName = "internal/mutantactive", "mutantactive"

// planter adds mutated places to a file.
type planter struct {
	file string
	// function is the one around the place, counts numbers the places of one kind in it.
	function string
	counts   map[string]int
	edits    []edit
	mutants  []mutant
}

// edit is an insertion into a file.
type edit struct {
	offset int
	text   string
}

// wrap puts a call of package active around an expression.
func (p *planter) wrap(fset *token.FileSet, e ast.Expr, kind, call string) {
	key := p.function + " " + kind
	p.counts[key]++
	name := fmt.Sprintf("%s %s %d", p.file, key, p.counts[key])
	p.mutants = append(p.mutants, mutant{name: name, dir: filepath.Dir(p.file)})
	p.edits = append(p.edits,
		edit{fset.Position(e.Pos()).Offset, fmt.Sprintf("%s.%s(%q, ", activeName, call, name)},
		edit{fset.Position(e.End()).Offset, ")"})
}

// attemptsName matches the names of numbers of attempts.
var attemptsName = regexp.MustCompile(`(?i)(attempts|saves|tries)$`)

// plantGo adds the mutated places to the text of a Go file. It returns nil if the file has none.
func plantGo(file string, text []byte) ([]byte, []mutant, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	p := &planter{file: file, counts: map[string]int{}}
	for _, d := range parsed.Decls {
		f, isFunction := d.(*ast.FuncDecl)
		if !isFunction || f.Body == nil {
			continue
		}
		p.function = f.Name.Name
		ast.Inspect(f.Body, func(n ast.Node) bool {
			p.visit(fset, n)
			return true
		})
	}
	if len(p.mutants) == 0 {
		return nil, nil, nil
	}
	p.edits = append(p.edits, edit{fset.Position(parsed.Name.End()).Offset,
		"\nimport " + activeName + " \"sluice/" + activePath + "\"\n"})
	slices.SortStableFunc(p.edits, func(a, b edit) int { return b.offset - a.offset })
	for _, e := range p.edits {
		text = slices.Concat(text[:e.offset], []byte(e.text), text[e.offset:])
	}
	text, err = format.Source(text)
	return text, p.mutants, err
}

// visit adds the mutated places of one node.
func (p *planter) visit(fset *token.FileSet, n ast.Node) {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		key, _ := n.Key.(*ast.Ident)
		switch {
		case key == nil:
		case key.Name == "ConditionExpression":
			p.wrap(fset, n.Value, "condition", "Condition")
		case key.Name == "Attempts" && isNumber(n.Value), key.Name == "RetryMaxAttempts":
			p.wrap(fset, n.Value, "attempts", "Count")
		}
	case *ast.AssignStmt:
		field, isField := n.Lhs[0].(*ast.SelectorExpr)
		switch {
		case !isField || len(n.Lhs) != 1 || n.Tok != token.ASSIGN:
		case field.Sel.Name == "ConditionExpression":
			p.wrap(fset, n.Rhs[0], "condition", "Condition")
		case field.Sel.Name == "MaxAttempts":
			p.wrap(fset, n.Rhs[0], "attempts", "Count")
		}
	case *ast.RangeStmt:
		name, _ := n.X.(*ast.Ident)
		if n.Key == nil && (name != nil && attemptsName.MatchString(name.Name) || isNumber(n.X)) {
			p.wrap(fset, n.X, "attempts", "Count")
		}
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "retry" && len(n.Args) == 2 {
			p.plantRetry(fset, n.Args[1])
		}
		if at := conditionOf(n); at > 0 {
			p.wrap(fset, n.Args[at], "condition", "Expression")
		}
	}
}

// conditionOf returns the place of the condition among the arguments of a write of a dynamo.Table, 0 for other calls.
func conditionOf(n *ast.CallExpr) int {
	method, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return 0
	}
	if table, ok := method.X.(*ast.SelectorExpr); !ok || table.Sel.Name != "table" {
		return 0
	}
	at := map[string]int{"Put": 1, "Delete": 1, "Check": 1, "Update": 2}[method.Sel.Name]
	if at >= len(n.Args) {
		return 0
	}
	if text, ok := n.Args[at].(*ast.BasicLit); ok && text.Value == `""` {
		return 0
	}
	return at
}

// plantRetry adds the places where an attempt, a func() (again bool, err error), asks to be repeated.
func (p *planter) plantRetry(fset *token.FileSet, attempt ast.Expr) {
	f, ok := attempt.(*ast.FuncLit)
	if !ok || f.Type.Results == nil {
		return
	}
	if first, ok := f.Type.Results.List[0].Type.(*ast.Ident); !ok || first.Name != "bool" {
		return
	}
	ast.Inspect(attempt, func(n ast.Node) bool {
		r, isReturn := n.(*ast.ReturnStmt)
		if !isReturn || len(r.Results) != 2 {
			return true
		}
		if name, ok := r.Results[0].(*ast.Ident); !ok || name.Name != "false" {
			p.wrap(fset, r.Results[0], "repetition", "Repeats")
		}
		return true
	})
}

func isNumber(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Kind == token.INT
}

// findMutants returns the mutants of the repository in a folder, and passes the text of each Go file with its mutated
// places to write, by its path.
func findMutants(dir string, write func(path string, text []byte) error) (all []mutant, err error) {
	err = filepath.WalkDir(filepath.Join(dir, "shared"), func(path string, d fs.DirEntry, err error) error {
		isTesting := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test")
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || isTesting {
			return err
		}
		file, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		changed, mutants, err := plantGo(file, text)
		if err != nil || mutants == nil {
			return err
		}
		all = append(all, mutants...)
		return write(path, changed)
	})
	if err != nil {
		return nil, err
	}
	machines, err := filepath.Glob(filepath.Join(dir, "statemachine", "*.asl.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range machines {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		mutants, err := plantMachine("statemachine/"+filepath.Base(path), text)
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}
	return all, nil
}

// plant adds the mutated places to the copy and returns the mutants.
func (w *workspace) plant() ([]mutant, error) {
	all, err := findMutants(w.dir, func(path string, text []byte) error { return os.WriteFile(path, text, 0o600) })
	if err != nil {
		return nil, err
	}
	return all, w.writeActive()
}

// activeSource is the package that the mutated places ask. The mutant that is on is named by the environment of tests,
// or for functions, whose environment is that of the template, by a file.
const activeSource = `// Package active says which mutant is on.
package active

import (
	"os"
	"sync"
)

var on = sync.OnceValue(func() string {
	if name := os.Getenv("SLUICE_MUTANT"); name != "" {
		return name
	}
	text, _ := os.ReadFile(FILE)
	return string(text)
})

// Condition returns a condition that always holds in place of c if the mutant is on.
func Condition(mutant string, c *string) *string {
	if on() != mutant || c == nil {
		return c
	}
	always := "(" + *c + ") OR attribute_exists(sluice_mutant) OR attribute_not_exists(sluice_mutant)"
	return &always
}

// Expression is Condition for the text of a condition.
func Expression(mutant, c string) string {
	if on() != mutant || c == "" {
		return c
	}
	return *Condition(mutant, &c)
}

// Count returns 1 in place of a number of attempts if the mutant is on.
func Count(mutant string, n int) int {
	if on() == mutant {
		return 1
	}
	return n
}

// Repeats returns false in place of whether to repeat an attempt if the mutant is on.
func Repeats(mutant string, again bool) bool { return again && on() != mutant }
`

// writeActive writes the package active into the copy.
func (w *workspace) writeActive() error {
	dir := filepath.Join(w.dir, activePath)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text := bytes.Replace([]byte(activeSource), []byte("FILE"), []byte(strconv.Quote(w.mutantFile())), 1)
	return os.WriteFile(filepath.Join(dir, "active.go"), text, 0o600)
}
