package database

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/local/template"
	"sluice/shared/kit/errtest"
)

// serverProgram returns the path of the server, which `make tools` installs in bin.
func serverProgram(t *testing.T) string {
	t.Helper()
	path := errtest.Must(filepath.Abs("../../bin/dynoxide"))(t)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: run `make tools` first", path)
	}
	return path
}

// newConfig describes a server with the project's tables and a database in dir.
func newConfig(t *testing.T, dir string) Config {
	t.Helper()
	log := errtest.Must(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	t.Cleanup(func() { log.Close() })
	loaded := errtest.Must(template.Load("../../template.yaml",
		template.Target{Region: "eu-west-1", Account: "000000000000", Stack: "s"}, nil))(t)
	return Config{
		Program: serverProgram(t),
		Host:    "127.0.0.1",
		File:    filepath.Join(dir, "db"),
		Log:     log,
		Tables:  loaded.Tables,
	}
}

func TestTablesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		c := newConfig(t, dir)
		s := errtest.Must(Start(t.Context(), c))(t)
		var list struct{ TableNames []string }
		if err := s.call(t.Context(), "ListTables", struct{}{}, &list); err != nil ||
			len(list.TableNames) != len(c.Tables) {
			t.Errorf("tables %v, %v; want %d tables", list.TableNames, err, len(c.Tables))
		}
		s.Close()
		<-s.Ended()
	}
	c := newConfig(t, dir)
	c.Tables[0].Definition["KeySchema"] = []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}}
	if c.Tables[0].Name == c.Tables[1].Name {
		t.Fatal("two tables have the same name")
	}
	_, err := Start(t.Context(), c)
	errtest.Fails(t, "Start with other keys", err, c.Tables[0].Name)
}

func TestStartFailures(t *testing.T) {
	c := newConfig(t, t.TempDir())
	c.Host = "192.0.2.1" // an address of documentation, which no machine has
	errtest.Fails(t, "address of another machine", errtest.Of(Start(t.Context(), c)))
	c.Host = "127.0.0.1"
	c.Program = "/does/not/exist"
	errtest.Fails(t, "missing program", errtest.Of(Start(t.Context(), c)))
	c.Program = "/bin/false"
	errtest.Fails(t, "program that ends", errtest.Of(Start(t.Context(), c)), "ended unexpectedly")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Program = serverProgram(t)
	errtest.Fails(t, "ended context", errtest.Of(Start(ctx, c)))
}

// A server that loses its port to another program is started at another port.
func TestStartTriesAnotherPort(t *testing.T) {
	for _, test := range []struct {
		failures int
		started  bool
	}{{startAttempts - 1, true}, {startAttempts, false}} {
		c := newConfig(t, t.TempDir())
		starts := filepath.Join(t.TempDir(), "starts")
		script := fmt.Sprintf("#!/bin/sh\necho start >>'%s'\n"+
			"if [ $(wc -l <'%s') -le %d ]; then echo 'address already in use'; exit 1; fi\nexec '%s' \"$@\"\n",
			starts, starts, test.failures, c.Program)
		c.Program = filepath.Join(t.TempDir(), "server")
		errtest.Fatal(t, os.WriteFile(c.Program, []byte(script), 0o700))
		s, err := Start(t.Context(), c)
		if (err == nil) != test.started {
			t.Errorf("Start of a server that fails %d times: %v, want success: %v", test.failures, err, test.started)
		}
		if err == nil {
			s.Close()
		} else if !strings.Contains(err.Error(), "address already in use") {
			t.Errorf("error %q, want it to quote the server's output", err)
		}
	}
}

// A table of an earlier release gets the indexes that the template has got since, or has changed, with the items that
// are stored already.
func TestIndexesAreThoseOfTheTemplate(t *testing.T) {
	for name, change := range map[string]func(definition map[string]any){
		"new": func(definition map[string]any) {
			delete(definition, "GlobalSecondaryIndexes")
			definition["AttributeDefinitions"] = []any{
				map[string]any{"AttributeName": "id", "AttributeType": "S"},
				map[string]any{"AttributeName": "part", "AttributeType": "S"},
			}
		},
		"changed": func(definition map[string]any) {
			for _, index := range definition["GlobalSecondaryIndexes"].([]any) {
				index.(map[string]any)["Projection"] = map[string]any{"ProjectionType": "KEYS_ONLY"}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			old, current := newConfig(t, dir), newConfig(t, dir)
			for _, table := range old.Tables {
				if table.Name == "sluice-batches" {
					change(table.Definition)
				}
			}
			expectIndexed(t, old, current)
		})
	}
}

// expectIndexed stores an item with an old configuration and reads it by an index with the current one, twice.
func expectIndexed(t *testing.T, old, current Config) {
	t.Helper()
	s := errtest.Must(Start(t.Context(), old))(t)
	text := func(v string) map[string]string { return map[string]string{"S": v} }
	if err := s.call(t.Context(), "PutItem", map[string]any{"TableName": "sluice-batches", "Item": map[string]any{
		"id": text("b"), "part": text("batch"), "unfinished": text("b"), "look_at": text("2026"), "status": text("x"),
	}}, nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	<-s.Ended()
	for range 2 {
		s = errtest.Must(Start(t.Context(), current))(t)
		var found struct {
			Items []map[string]map[string]string
		}
		if err := s.call(t.Context(), "Query", map[string]any{
			"TableName": "sluice-batches", "IndexName": "unfinished", "KeyConditionExpression": "unfinished = :u",
			"ExpressionAttributeValues": map[string]any{":u": text("b")},
		}, &found); err != nil || len(found.Items) != 1 || found.Items[0]["status"]["S"] != "x" {
			t.Errorf("the index has the items %v, %v; want one with its status", found.Items, err)
		}
		s.Close()
		<-s.Ended()
	}
}
