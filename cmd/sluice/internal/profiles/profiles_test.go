package profiles

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/cmd/sluice/internal/commandtest"
	"sluice/cmd/sluice/internal/service"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// The list has every profile without its secret, marks the one that is used, and says what is wrong with one.
func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME"} {
		t.Setenv(name, dir)
	}
	t.Setenv("SLUICE_PROFILE", "")
	list := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := commandtest.Run(t.Context(), Commands(), append([]string{"profiles"}, args...), &stdout,
			&stderr); code != 0 {
			t.Errorf("exit code %d, stderr %q; want 0", code, &stderr)
		}
		return stdout.String()
	}
	difftest.Equal(t, "without profiles", "There are no profiles; 'sluice login' makes one.\n", list())
	difftest.Equal(t, "without profiles as JSON", "", list("--json"))
	var path string
	for _, name := range []string{"test", "default"} {
		p := service.Profile{APIURL: "https://" + name + ".test", TokenURL: "u", Tenant: "t", ClientID: "c",
			ClientSecret: "hidden"}
		path = errtest.Must(p.Store(name))(t)
	}
	open := filepath.Join(filepath.Dir(path), "open.json")
	for _, file := range []string{open, filepath.Join(filepath.Dir(path), "no profile.json")} {
		errtest.Fatal(t, os.WriteFile(file, []byte("{}"), 0o644))
	}
	want := "* default  https://default.test  tenant t  client c\n" +
		"  open     others can reach the secret in " + open + "; run: chmod 600 '" + open + "'\n" +
		"  test     https://test.test  tenant t  client c\n"
	difftest.Equal(t, "list", want, list())
	t.Setenv("SLUICE_PROFILE", "test")
	got := list("--json")
	want = `{"name":"test","api_url":"https://test.test","token_url":"u","tenant":"t","client_id":"c","is_used":true}`
	if strings.Count(got, "\n") != 3 || !strings.Contains(got, want+"\n") || strings.Contains(got, "hidden") {
		t.Errorf("as JSON: got %s, want %s", got, want)
	}
}
