package openapi_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// ownShapes are the folders and types that have shapes of the description written by hand, each with its reason.
var ownShapes = map[string]string{
	"cmd/sluice/internal/policies.entityInput":               "It is a file for the command.",
	"cmd/sluice/internal/admin.statusAtOutput":               "It is what operators read from the rows of a batch.",
	"shared/ingest/batch/batchhttp.CompletedPart":            "It is a part of a request.",
	"shared/connect/externalauth/externalauthhttp.NameValue": "It is a part of a request.",
	"shared/platform/entity/entityhttp.PageOptions":          "It is a part of a request.",
	"shared/ingest/batch/batchhttp.ScreenUnknown":            "It is a part of a request.",
	"client.transactionPage":                                 "Its modifications are also given as they came.",
	"client.UploadOptions":                                   "An option that is not given is its zero value.",
	"shared/platform/document/documenthttp.PageReply":        "Its documents have stored flags and properties.",
	"shared/platform/document/documenthttp.LitePageReply":    "Its items have the columns that are asked for.",
	"shared/policy/policyhttp":                               "Its replies extend stored types.",
	"shared/screening/screeninghttp":                         "Its replies extend stored types.",
}

// The client, the command line and the handlers of replies have no struct of their own with the members of a schema:
// package wire has it. Requests are decoded by types of the handlers.
func TestNoShapeIsWrittenTwice(t *testing.T) {
	described := describedShapes(t)
	unused := map[string]bool{}
	for place := range ownShapes {
		unused[place] = true
	}
	for place, shape := range writtenShapes(t) {
		schema := described[shape]
		folder := place[:strings.LastIndex(place, ".")]
		_, hasReason := ownShapes[place]
		_, folderHasReason := ownShapes[folder]
		switch {
		case schema == "" || strings.HasSuffix(place, "Request"):
		case hasReason || folderHasReason:
			delete(unused, place)
			delete(unused, folder)
		default:
			t.Errorf("%s has the members of the schema %s: use the type of openapi/wire", place, schema)
		}
	}
	for place := range unused {
		t.Errorf("nothing needs the entry for %s", place)
	}
}

// describedShapes returns the names of the schemas that package wire has, by their members.
func describedShapes(t *testing.T) map[string]string {
	text := errtest.Must(load(t).Types())(t)
	var root struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	errtest.Fatal(t, json.Unmarshal(text, &root))
	shapes := map[string]string{}
	for name, schema := range root.Components.Schemas {
		var members []string
		for member := range schema.Properties {
			members = append(members, member)
		}
		shapes[shapeOf(members)] = name
	}
	return shapes
}

func shapeOf(members []string) string {
	slices.Sort(members)
	return strings.Join(members, " ")
}

// writtenShapes returns the members of the structs that are encoded as JSON, by their folder and name.
func writtenShapes(t *testing.T) map[string]string {
	shapes := map[string]string{}
	for _, root := range []string{"client", "cmd", "shared"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, entry fs.DirEntry, err error) error {
			folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
			isReply := root != "shared" || strings.HasSuffix(folder, "http")
			if err != nil || !isReply || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if members := membersOf(spec.Type); len(members) > 0 {
						shapes[folder+"."+spec.Name.Name] = shapeOf(members)
					}
				}
				return true
			})
			return nil
		})
		errtest.Fatal(t, err)
	}
	if len(shapes) < 50 {
		t.Fatalf("found %d structs with members, want 50 or more", len(shapes))
	}
	return shapes
}

// membersOf returns the members that encoding/json gives the fields of a struct, without those of embedded structs. One
// that embeds a type of package wire extends it, and has none.
func membersOf(of ast.Expr) []string {
	s, ok := of.(*ast.StructType)
	if !ok {
		return nil
	}
	var members []string
	for _, field := range s.Fields.List {
		if embedded, ok := field.Type.(*ast.SelectorExpr); ok && field.Names == nil {
			if from, ok := embedded.X.(*ast.Ident); ok && from.Name == "wire" {
				return nil
			}
		}
		if field.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name != "" && name != "-" {
			members = append(members, name)
		}
	}
	return members
}
