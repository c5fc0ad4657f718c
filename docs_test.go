package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// Every alarm has its runbook, under the name it rings by.
func TestAlarmsHaveRunbooks(t *testing.T) {
	template, err := os.ReadFile("template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	alarms := regexp.MustCompile(`AlarmName: !Sub "\$\{Prefix\}-([a-z-]+)"`).FindAllSubmatch(template, -1)
	if all := strings.Count(string(template), "Type: AWS::CloudWatch::Alarm"); len(alarms) == 0 || len(alarms) != all {
		t.Errorf("%d of %d alarms have a name", len(alarms), all)
	}
	for _, alarm := range alarms {
		if !strings.Contains(string(doc), "| "+string(alarm[1])+" |") {
			t.Errorf("docs/operations.md has no runbook for %s", alarm[1])
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

// So is every errorCode that a platform endpoint can answer with. Conflicts, failures and media types have one code each.
func TestErrorCodesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	uncoded := []string{"Conflict", "Unavailable", "Internal", "Unauthorized", "UnsupportedMedia"}
	found := 0
	explained := func(arg ast.Expr) {
		lit, ok := arg.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return
		}
		found++
		if code, err := strconv.Unquote(lit.Value); err != nil || !strings.Contains(string(text), "`"+code+"`") {
			t.Errorf("docs/errors.md does not explain %s %v", lit.Value, err)
		}
	}
	for _, pattern := range []string{"shared/httpapi/decode.go", "shared/httpapi/platform/*.go", "shared/httpapi/platform/*/*.go", "shared/dynamo/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || strings.HasSuffix(path, "_test.go") {
					return true
				}
				f, ok := call.Fun.(*ast.SelectorExpr)
				switch {
				case !ok:
				case f.Sel.Name == "Add" && len(call.Args) == 3: // a fault of a body
					explained(call.Args[2])
				case (f.Sel.Name == "New" || f.Sel.Name == "Newf") && len(call.Args) >= 3:
					if kind, ok := call.Args[0].(*ast.SelectorExpr); ok && !slices.Contains(uncoded, kind.Sel.Name) {
						explained(call.Args[1])
					}
				}
				return true
			})
		}
	}
	if found < 15 {
		t.Errorf("found only %d codes", found)
	}
}
