package parquetfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/errtest"
)

// describe lists the columns of a table: their names and types as SQL has them.
func describe(t *table) string {
	var b strings.Builder
	for _, f := range t.schema.Fields() {
		fmt.Fprintf(&b, "%s %s\n", f.Name(), sqlType(f))
	}
	return b.String()
}

func sqlType(n parquet.Node) string {
	logical := n.Type().LogicalType()
	if n.Leaf() {
		switch kind := n.Type().Kind(); {
		case logical != nil && strings.HasPrefix(logical.String(), "TIMESTAMP"):
			return "TIMESTAMP"
		case logical != nil && strings.HasPrefix(logical.String(), "DECIMAL"):
			return fmt.Sprintf("DECIMAL(%d,%d)", decimalPrecision, decimalScale)
		case kind == parquet.ByteArray:
			return "TEXT"
		case kind == parquet.Int32:
			return "INTEGER"
		case kind == parquet.Int64:
			return "BIGINT"
		}
		panic("a column has an unknown type")
	}
	if inner := n.Fields()[0]; len(n.Fields()) == 1 && inner.Repeated() {
		if values := inner.Fields(); len(values) == 2 && values[0].Name() == "key" {
			return "MAP(TEXT, TEXT)"
		}
		return sqlType(inner.Fields()[0]) + "[]"
	}
	var fields []string
	for _, f := range n.Fields() {
		fields = append(fields, f.Name()+" "+sqlType(f))
	}
	return "STRUCT(" + strings.Join(fields, ", ") + ")"
}

// checkFile compares a file of the repository with the wanted content, and rewrites it with -update.
func checkFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		errtest.Fatal(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got := errtest.Must(os.ReadFile(path))(t)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s (+) does not have the columns (-) of package schema. Raise Version in table.go, unless no "+
			"release has it, and run: go test ./shared/ingest/export/parquetfile -run Columns -update\n%s", path, diff)
	}
}

// The columns of a version never change. Who adds a field to package schema raises Version, and writes the list of the
// next one with -update.
func TestColumnsOfAVersionStay(t *testing.T) {
	path := filepath.Join("testdata", fmt.Sprintf("columns-%d.txt", Version))
	if _, err := os.Stat(path); err == nil && *update {
		*update = false // only a list that does not exist is written
		defer func() { *update = true }()
	}
	checkFile(t, path, describe(lineTable))
}

// docs/parquet.md has the columns of package schema.
func TestColumnsAreDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "docs", "parquet.md")
	text := errtest.Must(os.ReadFile(path))(t)
	const begin, end = "<!-- columns -->\n", "<!-- end of columns -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, isClosed := strings.Cut(rest, end)
	if !found || !isClosed {
		t.Fatalf("docs/parquet.md has no part between %q and %q", begin, end)
	}
	checkFile(t, path, before+begin+documentedColumns()+end+after)
}

// documentedColumns is the list of the columns for people. docs/line-fields.md describes those of the line's fields.
func documentedColumns() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Version %d has these columns, in this order:\n\n", Version)
	own := map[string]string{
		batchColumn:      "the batch",
		lineColumn:       "number of the line in the uploaded file, from 1",
		receivedColumn:   "when the upload was complete",
		mainEntityColumn: "role of the main entity, `sender` or `receiver`",
		rawLineColumn:    "the line as it was sent, without its line feed",
	}
	objects := map[string]*schema.Object{}
	for _, field := range schema.Transaction.Fields {
		objects[field.Name] = field.Object
	}
	names, last := []string(nil), ""
	flush := func() {
		if len(names) > 0 {
			fmt.Fprintf(&b, "- %s: %s\n", strings.Join(names, ", "), last)
		}
		names = nil
	}
	for _, f := range lineTable.schema.Fields() {
		kind := sqlType(f)
		if object := objects[f.Name()]; object != nil {
			kind = "[" + object.Name + "](line-fields.md#" + strings.ToLower(object.Name) + ")"
		} else if meaning := own[f.Name()]; meaning != "" {
			kind += ": " + meaning
		}
		if kind != last {
			flush()
		}
		names, last = append(names, f.Name()), kind
	}
	flush()
	return b.String()
}
