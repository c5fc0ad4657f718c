package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/errtest"
)

func TestGeneratedCodeIsCurrent(t *testing.T) {
	want := errtest.Must(generate(schema.Objects))(t)
	got := errtest.Must(os.ReadFile("../fastpath_gen.go"))(t)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Fatalf("run \"go generate ./shared/ingest/transaction/scanner\": schema table (-), fastpath_gen.go (+):\n%s",
			diff)
	}
}
