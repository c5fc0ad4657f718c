package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/environ"
	"sluice/internal/localcloud"
	"sluice/openapi/wire"
)

func TestMain(m *testing.M) {
	testscript.Main(ownEnvironment{m}, map[string]func(){"sluice": main})
}

// ownEnvironment runs tests without the settings of whoever runs them. Scripts set what the programs that they start
// need.
type ownEnvironment struct{ *testing.M }

// Run runs the tests.
func (e ownEnvironment) Run() int {
	environ.Unset("SLUICE_", "AWS_")
	return e.M.Run()
}

// Each script has a server of its own, which the environment describes. The command localjson DIR writes the data
// folder of a local cloud that is this server, newbatch creates a batch to which nothing is uploaded, and exits CODE
// ARGS... runs sluice and checks its exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			s := clienttest.New()
			s.Entities = someEntities()
			e.Defer(func() {
				s.Close()
				for _, p := range s.Problems() {
					t.Errorf("%s: %s", e.WorkDir, p)
				}
			})
			for name, value := range commandtest.Settings(s) {
				e.Setenv("SLUICE_"+strings.ToUpper(name), value)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"localjson": writeDescriptor, "newbatch": createBatch, "exits": checkExitCode,
		},
	})
}

// someEntities returns the entities of the servers of scripts.
func someEntities() []wire.Entity {
	created := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	single := func(value string) wire.SingleProperty { return wire.SingleProperty{Type: "Single", Value: value} }
	return []wire.Entity{
		{
			ID: "e-1", Type: "Company", Role: "Client", LifecycleStatus: "Compliant", Created: &created, Version: 2,
			Risk:         &wire.RiskLevel{RiskCategory: "Overall", RiskLevel: "High"},
			AccessLayers: wire.AccessLayers{Geographic: []string{"Ireland"}, BusinessRelated: []string{"Retail"}},
			Properties: map[string]any{
				"legalEntityName": single("ACME Ltd"), "note": single("\x1b[31mred\x1b[0m"),
				"employees": json.RawMessage(`{"type":"Single","value":12}`),
				"tax":       json.RawMessage(`{"type":"Custom","customTypeId":"c","properties":{"country":"IE"}}`),
			},
		},
		{ID: "e 2/3", LifecycleStatus: "Unknown"},
		{ID: "e-3", Type: "Individual", LifecycleStatus: "Compliant",
			Properties: map[string]any{"legalEntityName": single("Acme \u202egnp.exe")}},
	}
}

// writeDescriptor writes the descriptor of a local cloud that is the script's server.
func writeDescriptor(ts *testscript.TestScript, _ bool, args []string) {
	text, err := json.Marshal(localcloud.Descriptor{
		APIURL: ts.Getenv("SLUICE_API_URL"), TokenURL: ts.Getenv("SLUICE_TOKEN_URL"),
		ClientID: ts.Getenv("SLUICE_CLIENT_ID"), ClientSecret: ts.Getenv("SLUICE_CLIENT_SECRET"),
		Scope: ts.Getenv("SLUICE_SCOPE"),
	})
	ts.Check(err)
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(os.WriteFile(filepath.Join(dir, localcloud.FileName), text, 0o600))
}

// createBatch creates a batch and uploads nothing.
func createBatch(ts *testscript.TestScript, _ bool, _ []string) {
	c, err := client.New(client.Config{
		APIURL: ts.Getenv("SLUICE_API_URL"), TokenURL: ts.Getenv("SLUICE_TOKEN_URL"),
		ClientID: ts.Getenv("SLUICE_CLIENT_ID"), ClientSecret: ts.Getenv("SLUICE_CLIENT_SECRET"),
		Scope: ts.Getenv("SLUICE_SCOPE"),
	})
	ts.Check(err)
	_, err = c.CreateUpload(context.Background(), true)
	ts.Check(err)
}

// checkExitCode runs sluice and checks its exit code.
func checkExitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("sluice", args[1:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	if want := args[0]; fmt.Sprint(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}
