package openapi_test

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite sluice.bundled.json")

// The file that users take is the description that the other tests check.
func TestTheBundledFileIsCurrent(t *testing.T) {
	const file = "sluice.bundled.json"
	want, err := load(t).Bundle()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("openapi/%s is not what openapi/*.yaml say: make description rewrites it", file)
	}
}
