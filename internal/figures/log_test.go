package figures

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
)

// A log is read on from where it was read to, and from its start if there is another one in its place.
func TestLogGrowsAndIsReplaced(t *testing.T) {
	data := t.TempDir()
	errtest.Is(t, "without a log", errtest.Of(OpenLog(data, Options{})), fs.ErrNotExist)
	path := filepath.Join(data, "logs", "functions.log")
	errtest.Fatal(t, os.MkdirAll(filepath.Dir(path), 0o700))
	line := func(n int) string {
		return fmt.Sprintf("2026-11-26T08:15:0%d.000Z sluice-batch r-1 "+
			"{\"record\":\"audit\",\"status\":200,\"ms\":1}\n", n)
	}
	write := func(text string, flag int) {
		t.Helper()
		f := errtest.Must(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o600))(t)
		errtest.Fatal(t, errtest.Of(f.WriteString(text)))
		errtest.Fatal(t, f.Close())
	}
	write(line(1)+line(2), 0)
	log := errtest.Must(OpenLog(data, Options{}))(t)
	defer log.Close()
	require := func(want int64) {
		t.Helper()
		s, err := log.Snapshot(time.Now())
		if err != nil || s.Requests.ByStatus["2xx"] != want {
			t.Errorf("the log has %v requests (%v), want %d", s.Requests.ByStatus, err, want)
		}
	}
	require(2)
	write(line(3)[:30], os.O_APPEND) // a line that is being written
	require(2)
	write(line(3)[30:], os.O_APPEND)
	require(3)
	write(line(4), os.O_TRUNC)
	require(1)
	errtest.Fatal(t, os.Rename(path, path+".old"))
	require(1) // it stays until there is another one
	write(line(5)+line(6)+line(7)+line(8), 0)
	require(4)
}
