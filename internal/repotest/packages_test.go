package repotest

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"sluice/shared/kit/errtest"
)

// modulePath is the path of the module that holds the service.
const modulePath = "sluice"

var loadPackages = sync.OnceValues(func() ([]*packages.Package, error) {
	const mode = packages.NeedName | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes |
		packages.NeedTypesInfo
	return packages.Load(&packages.Config{Mode: mode}, "./...")
})

// modulePackages returns the type-checked packages of the module, without their tests.
func modulePackages(t *testing.T) []*packages.Package {
	t.Helper()
	repositoryFiles(t)
	all := errtest.Must(loadPackages())(t)
	if len(all) == 0 {
		t.Fatal("the module has no packages")
	}
	for _, p := range all {
		for _, problem := range p.Errors {
			t.Fatalf("loading %s: %v", p.PkgPath, problem)
		}
	}
	return all
}

// packageIn returns the package in a folder.
func packageIn(t *testing.T, folder string) *packages.Package {
	t.Helper()
	all := modulePackages(t)
	i := slices.IndexFunc(all, func(p *packages.Package) bool { return folderOf(p) == folder })
	if i < 0 {
		t.Fatalf("there is no package %s", folder)
	}
	return all[i]
}

// folderOf returns the folder of a package below the module's root.
func folderOf(p *packages.Package) string { return strings.TrimPrefix(p.PkgPath, modulePath+"/") }

// stringsPassedAs returns the constant strings that the code in a package passes to function parameters of the given
// name.
func stringsPassedAs(p *packages.Package, parameter string) []string {
	var found []string
	inspect(p, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		signature, ok := p.TypesInfo.TypeOf(call.Fun).(*types.Signature)
		if !ok {
			return // a conversion
		}
		for i, arg := range call.Args {
			if i < signature.Params().Len() && signature.Params().At(i).Name() == parameter {
				if text, ok := constantString(p, arg); ok {
					found = append(found, text)
				}
			}
		}
	})
	return found
}

// stringConstantsOfType returns the values of a package's constants whose type has the given name.
func stringConstantsOfType(p *packages.Package, typeName string) []string {
	var found []string
	for _, name := range p.Types.Scope().Names() {
		c, ok := p.Types.Scope().Lookup(name).(*types.Const)
		if !ok || c.Val().Kind() != constant.String {
			continue
		}
		if named, ok := c.Type().(*types.Named); ok && named.Obj().Name() == typeName {
			found = append(found, constant.StringVal(c.Val()))
		}
	}
	return found
}

// inspect visits all syntax of a package.
func inspect(p *packages.Package, visit func(ast.Node)) {
	for _, file := range p.Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				visit(n)
			}
			return true
		})
	}
}

func constantString(p *packages.Package, e ast.Expr) (string, bool) {
	value := p.TypesInfo.Types[e].Value
	if value == nil || value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(value), true
}
