package setup

import (
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
)

func TestLoad(t *testing.T) {
	env := map[string]string{
		"TABLE_BATCHES": "b", "CHUNK_BYTES": "0", "MAX_UPLOAD_BYTES": "2147483647", "TOKEN_LIFETIME": "3600",
		"AWS_ENDPOINT_URL": "",
	}
	c, err := Load(func(name string) string { return env[name] }, "TABLE_BATCHES", "TOKEN_LIFETIME")
	errtest.Fatal(t, err)
	if want := (Config{BatchesTable: "b", MaxUploadBytes: 2147483647, TokenLifetime: time.Hour}); c != want {
		t.Errorf("%+v", c)
	}
}

// A broken deployment names everything that is wrong with it at once, and no value.
func TestLoadNamesEveryFault(t *testing.T) {
	env := map[string]string{"CHUNK_BYTES": "-1", "MAX_LINE_BYTES": "many", "TOKEN_LIFETIME": "0",
		"UPLOAD_URL_LIFETIME": "99999999999", "ISSUER": "kept"}
	_, err := Load(func(name string) string { return env[name] }, "TABLE_BATCHES", "AUDIENCE", "ISSUER")
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{"CHUNK_BYTES", "MAX_LINE_BYTES", "TOKEN_LIFETIME", "UPLOAD_URL_LIFETIME",
		"TABLE_BATCHES", "AUDIENCE"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
	for _, not := range []string{"ISSUER", "many", "99999999999"} {
		if strings.Contains(err.Error(), not) {
			t.Errorf("%s is named: %v", not, err)
		}
	}
}
