package database

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/local/template"
)

// program is the server that `make tools` puts into bin.
func program(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/dynoxide")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: run `make tools` first", path)
	}
	return path
}

func config(t *testing.T, dir string) Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	own, err := template.Load("../../template.yaml", template.Place{Region: "eu-west-1", Account: "000000000000", Stack: "s"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Program: program(t), Address: l.Addr().String(), File: filepath.Join(dir, "db"), Log: log, Tables: own.Tables}
}

func TestTablesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		c := config(t, dir)
		s, err := Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ TableNames []string }
		if err := s.call(t.Context(), "ListTables", struct{}{}, &list); err != nil || len(list.TableNames) != len(c.Tables) {
			t.Errorf("%v, %v", list.TableNames, err)
		}
		s.Close()
		<-s.Ended()
	}
	c := config(t, dir)
	c.Tables[0].Definition["KeySchema"] = []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}}
	if c.Tables[0].Name == c.Tables[1].Name {
		t.Fatal("tables have one name")
	}
	_, err := Start(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), c.Tables[0].Name) {
		t.Errorf("a table with other keys: %v", err)
	}
}

func TestStartFailures(t *testing.T) {
	c := config(t, t.TempDir())
	taken, err := net.Listen("tcp", c.Address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), c); err == nil {
		t.Error("no error although the port is in use")
	}
	taken.Close()
	c.Program = "/does/not/exist"
	if _, err := Start(t.Context(), c); err == nil {
		t.Error("no error although the program is missing")
	}
	c.Program = "/bin/false"
	if _, err := Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "ended at once") {
		t.Errorf("a program that ends: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Program = program(t)
	if _, err := Start(ctx, c); err == nil {
		t.Error("no error although nobody waits any more")
	}
}
