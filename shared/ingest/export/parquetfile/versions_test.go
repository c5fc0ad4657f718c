package parquetfile

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"sluice/internal/duckdb"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/errtest"
)

// keep is for make test-parquet, which reads the file of a later version, too.
var keep = flag.String("keep", "", "store the file of a later version in a `folder`")

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
	got, err := os.ReadFile(path)
	errtest.Fatal(t, err)
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
	text, err := os.ReadFile(path)
	errtest.Fatal(t, err)
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
	fmt.Fprintf(&b, "Version %d has these columns:\n\n| Column | Type |\n|---|---|\n", Version)
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
	for _, f := range lineTable.schema.Fields() {
		kind := sqlType(f)
		if object := objects[f.Name()]; object != nil {
			kind = "[" + object.Name + "](line-fields.md#" + strings.ToLower(object.Name) + ")"
		} else if meaning := own[f.Name()]; meaning != "" {
			kind += ": " + meaning
		}
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name(), kind)
	}
	return b.String()
}

// futureTable is a table of the next version, which has a field more at the beginning of a line, in a struct, and in
// the items of a list.
func futureTable() *table {
	address := &schema.Object{Name: "Address", Fields: append([]schema.Field{{Name: "district",
		Kind: schema.KindString}}, schema.Address.Fields...)}
	unknown := &schema.Object{Name: "Unknown"}
	for _, f := range schema.Unknown.Fields {
		if f.Name == "addresses" {
			f.Object = address
		}
		unknown.Fields = append(unknown.Fields, f)
	}
	entity := &schema.Object{Name: "Entity"}
	for _, f := range schema.Entity.Fields {
		if f.Name == "unknown" {
			f.Object = unknown
		}
		entity.Fields = append(entity.Fields, f)
	}
	line := &schema.Object{Name: "Transaction", Fields: []schema.Field{{Name: "channel", Kind: schema.KindString}}}
	for _, f := range schema.Transaction.Fields {
		if f.Name == "sender" {
			f.Object = entity
		}
		line.Fields = append(line.Fields, f)
	}
	return newTable(line, Version+1)
}

// A file that version 1 wrote is read beside one of a later version: columns that it does not have are null.
func TestVersionsSideBySide(t *testing.T) {
	t.Parallel()
	first := filepath.Join("testdata", "version-1.parquet")
	if _, err := os.Stat(first); os.IsNotExist(err) && *update && Version == 1 {
		errtest.Fatal(t, os.WriteFile(first, write(t, lineTable, fileOf(lines), 1, 1), 0o644))
	}
	written := write(t, futureTable(), fileOf([]string{strings.Replace(lines[2], `"city":"A"`,
		`"city":"A","district":"D"`, 1)}, []string{strings.Replace(lines[1], "{", `{"channel":"web",`, 1)}), 1, 1)
	next := store(t, "next.parquet", written)
	if *keep != "" {
		errtest.Fatal(t, os.WriteFile(filepath.Join(*keep, "next.parquet"), written, 0o644))
	}
	rows := duckdb.Query(t, fmt.Sprintf(`
		SELECT m.value::VARCHAR AS version, f.* EXCLUDE (file_name) FROM (
			SELECT filename AS file_name, line, channel, transaction_external_id, modification.amount AS amount,
				sender.unknown.addresses[1].district AS district, sender.unknown.addresses[1].city AS city
			FROM read_parquet(['%s', '%s'], union_by_name = true, filename = true)) f
		JOIN parquet_kv_metadata(['%[1]s', '%[2]s']) m ON m.file_name = f.file_name AND m.key::VARCHAR = '%[3]s'
		ORDER BY version, line`, first, next, VersionKey))
	row := func(version string, line int, channel any, id, amount string, district, city any) map[string]any {
		return map[string]any{"version": version, "line": json.Number(fmt.Sprint(line)), "channel": channel,
			"transaction_external_id": id, "amount": amount, "district": district, "city": city}
	}
	later := fmt.Sprint(Version + 1)
	want := []map[string]any{
		row("1", 1, nil, "tx-20251125-0042-1", "48.90", nil, nil),
		row("1", 2, nil, "t2", "0", nil, nil),
		row("1", 3, nil, "t3", "-48.900", nil, "A"),
		row(later, 1, nil, "t3", "-48.900", "D", "A"),
		row(later, 2, "web", "t2", "0", nil, nil),
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows of both versions (-want +got):\n%s", diff)
	}
}
