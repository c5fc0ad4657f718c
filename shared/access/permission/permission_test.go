package permission_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/permission"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Every constant of the package is in the list, once, and has the name of the permission.
func TestAllHasEveryConstant(t *testing.T) {
	file := errtest.Must(parser.ParseFile(token.NewFileSet(), "permission.go", nil, 0))(t)
	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name == "all" {
			return true
		}
		name := spec.Names[0].Name
		if value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value); err != nil || value != name {
			t.Errorf("the constant %s has the value %q, %v", name, value, err)
		}
		want = append(want, name)
		return true
	})
	if diff := cmp.Diff(want, permission.All()); diff != "" {
		t.Errorf("constants (-), All (+):\n%s", diff)
	}
	difftest.Len(t, "Exists does not know", 0, slices.DeleteFunc(want, permission.Exists))
	if permission.Exists("") || permission.Exists("batchread") {
		t.Error("Exists knows a permission that does not exist")
	}
}
