package openapi_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"sluice/shared/kit/errtest"
)

var update = flag.Bool("update", false, "rewrite sluice.bundled.json")

// The file that users take is the description that the other tests check.
func TestTheBundledFileIsCurrent(t *testing.T) {
	const file = "sluice.bundled.json"
	want := errtest.Must(load(t).Bundle())(t)
	if *update {
		errtest.Fatal(t, os.WriteFile(file, want, 0o644))
	}
	got := errtest.Must(os.ReadFile(file))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("openapi/%s is not what openapi/*.yaml say: make description rewrites it", file)
	}
}
