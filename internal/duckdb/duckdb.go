// Package duckdb lets tests query Parquet files with DuckDB, as analysts do. make installs it from npm, at the version
// of tools/duckdb/package-lock.json.
package duckdb

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// install is the command that installs DuckDB.
const install = "make bin/tools/duckdb/installed"

// Query returns the rows of a query's result by the names of its columns. Numbers are json.Number, exact; timestamps
// are texts in UTC. Where DuckDB is not installed because it is not made for the machine, the test is skipped.
func Query(t *testing.T, sql string) []map[string]any {
	t.Helper()
	root := repositoryRoot(t)
	module := filepath.Join(root, "bin/tools/duckdb/node_modules/@duckdb/node-bindings-linux-x64/duckdb.node")
	if _, err := os.Stat(module); err != nil {
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
			t.Skip("there is no DuckDB for this machine in tools/duckdb")
		}
		t.Fatalf("DuckDB is not installed (%s): %v", install, err)
	}
	file := filepath.Join(t.TempDir(), "rows.json")
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(root, "tools/duckdb/query.cjs"), module, file)
	cmd.Stdin = strings.NewReader(sql)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for decoder.More() {
		var row map[string]any
		if err := decoder.Decode(&row); err != nil {
			t.Fatalf("%s: %v in %s", sql, err, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// repositoryRoot returns the folder above the working directory that has the tools.
func repositoryRoot(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "tools/duckdb")); err == nil {
			return folder
		}
		if folder == filepath.Dir(folder) {
			t.Fatal("no folder above the test has tools/duckdb")
		}
		folder = filepath.Dir(folder)
	}
}
