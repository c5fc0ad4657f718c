package localcloud

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sluice/shared/kit/errtest"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	errtest.Is(t, "no descriptor", errtest.Of(Read(dir)), fs.ErrNotExist)
	path := filepath.Join(dir, "local.json") // the name is part of the interface of the local cloud
	errtest.Fatal(t, os.WriteFile(path, []byte(`{"api_url":"http://127.0.0.1:1","more":1}`), 0o600))
	d, err := Read(dir)
	if want := (Descriptor{APIURL: "http://127.0.0.1:1"}); err != nil || d != want {
		t.Errorf("Read = %+v, %v; want %+v", d, err, want)
	}
	errtest.Fatal(t, os.WriteFile(path, []byte("{"), 0o600))
	errtest.Fails(t, "broken descriptor", errtest.Of(Read(dir)), path)
}
