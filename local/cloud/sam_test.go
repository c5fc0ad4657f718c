package cloud

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/local/template"
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
	if err := c.writeSAMSettings(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]map[string]string
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]string{"PlanFunction": {
		"AWS_ENDPOINT_URL":    "http://host.docker.internal:4000",
		"AWS_ENDPOINT_URL_S3": "http://host.docker.internal:4001",
		"PUBLIC_STORAGE_URL":  "http://127.0.0.1:4001", "ISSUER": "", "TABLE_BATCHES": "sluice-batches",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	c.options.SAMFile = ""
	if err := c.writeSAMSettings(t.Context()); err != nil {
		t.Errorf("without a file: %v, want nil", err)
	}
}
