package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// docs/homes.md says of every home exactly what the suite leaves out there, with a reason, and the tests named here exist.
func TestTheTableOfHomesIsTrue(t *testing.T) {
	text, err := os.ReadFile("../docs/homes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "| The suite needs |")
	table, _, _ := strings.Cut("|"+after, "\n\n")
	rows := map[capability]map[string]bool{}
	var homes []string
	for i, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case i == 0:
			homes = cells[:len(cells)-1]
		case i > 1:
			row := map[string]bool{}
			for j, home := range homes {
				row[home] = cells[j+1] == "yes"
			}
			rows[capability(cells[0])] = row
			if len(cells[len(cells)-1]) < 10 {
				t.Errorf("%s: no reason", cells[0])
			}
		}
	}
	for _, c := range []capability{otherSettings, processes, refused401, responses, encodedPaths, manyRequests, samCLI} {
		row, found := rows[c]
		for home, lacking := range lacks {
			if has, known := row[home]; !found || !known || has == slices.Contains(lacking, c) {
				t.Errorf("docs/homes.md is wrong about %s of %s", c, home)
			}
		}
		delete(rows, c)
	}
	if len(rows) > 0 {
		t.Errorf("docs/homes.md knows more than the suite: %v", rows)
	}
	exist := tests(t)
	for name := range needs {
		if !exist[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// tests are the names of the suite's tests.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}
