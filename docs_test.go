package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every code that a line can have is explained in docs/errors.md.
func TestErrorsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	codes := constants(t, "shared", "Code")
	if len(codes) < 20 {
		t.Fatalf("found only %d codes of lines", len(codes))
	}
	for _, code := range codes {
		if !strings.Contains(doc, "`"+code+"`") {
			t.Errorf("docs/errors.md does not explain %s", code)
		}
	}
}

// constants returns the string constants under a folder whose type is declared by the given name, in whichever package.
func constants(t *testing.T, dir, typeName string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			named := spec.Type
			if qualified, ok := named.(*ast.SelectorExpr); ok {
				named = qualified.Sel
			}
			if name, ok := named.(*ast.Ident); ok && name.Name == typeName {
				for _, v := range spec.Values {
					if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						value, err := strconv.Unquote(lit.Value)
						if err != nil {
							t.Error(err)
						}
						found = append(found, value)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
