package transaction

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/line.schema.json anew")

func TestPublishedSchemaIsTheTable(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "line.schema.json")
	want := JSONSchema()
	if !bytes.Equal(want, JSONSchema()) {
		t.Fatal("the schema is not the same twice")
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Fatal("schema table (-), docs/line.schema.json (+); go test ./shared/transaction -run Schema -update writes it anew:\n" + diff)
	}
}
