package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sluice/client/clienttest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sluice": main})
}

// Each script has a service of its own, named by the environment. The command localjson DIR makes the data folder of a local
// cloud that is this service.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			s := clienttest.New()
			e.Defer(func() {
				s.Close()
				for _, p := range s.Problems() {
					t.Errorf("%s: %s", e.WorkDir, p)
				}
			})
			for name, value := range connectionOf(s) {
				e.Setenv("SLUICE_"+strings.ToUpper(name), value)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"localjson": localJSON},
	})
}

func connectionOf(s *clienttest.Server) map[string]string {
	return map[string]string{
		"api_url": s.URL, "token_url": s.URL + "/oauth2/token", "client_id": clienttest.ClientID,
		"client_secret": clienttest.ClientSecret, "scope": clienttest.Scope,
	}
}

func localJSON(ts *testscript.TestScript, _ bool, args []string) {
	fields := make(map[string]string)
	for _, name := range []string{"api_url", "token_url", "client_id", "client_secret", "scope"} {
		fields[name] = ts.Getenv("SLUICE_" + strings.ToUpper(name))
	}
	text, err := json.Marshal(fields)
	ts.Check(err)
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(os.WriteFile(filepath.Join(dir, "local.json"), text, 0o600))
}
