package cloud

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sluice/local/template"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// SAM receives the settings of each function with addresses that containers reach, and without access keys.
func TestWriteSAMSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sam.json")
	environment := map[string]string{
		"AWS_ENDPOINT_URL": "http://127.0.0.1:4000", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:4001",
		"AWS_ACCESS_KEY_ID": "secret", "AWS_SECRET_ACCESS_KEY": "secret", "PUBLIC_STORAGE_URL": "http://127.0.0.1:4001",
		"ISSUER": "", "TABLE_BATCHES": "sluice-batches",
	}
	c := &Cloud{
		options:  Options{SAMFile: path},
		template: &template.Template{Functions: []template.Function{{ID: "PlanFunction", Environment: environment}}},
	}
	errtest.Fatal(t, c.writeSAMSettings(t.Context()))
	text := errtest.Must(os.ReadFile(path))(t)
	var got map[string]map[string]string
	errtest.Fatal(t, json.Unmarshal(text, &got))
	want := map[string]map[string]string{"PlanFunction": {
		"AWS_ENDPOINT_URL":    "http://host.docker.internal:4000",
		"AWS_ENDPOINT_URL_S3": "http://host.docker.internal:4001",
		"PUBLIC_STORAGE_URL":  "http://127.0.0.1:4001", "ISSUER": "", "TABLE_BATCHES": "sluice-batches",
	}}
	difftest.Equal(t, "settings", want, got)
	c.options.SAMFile = ""
	errtest.Is(t, "without a file", c.writeSAMSettings(t.Context()), nil)
}
