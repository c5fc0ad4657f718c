package process

import (
	"os"
	"os/exec"
	"testing"

	"sluice/shared/kit/errtest"
)

// A pipe cannot be synced, so that a real call fails and a skipped one succeeds.
func TestRelaxedProcessesSkipSyncs(t *testing.T) {
	for _, flag := range []string{"--", "-d"} { // fsync, fdatasync
		for _, test := range []struct {
			name  string
			start func(*exec.Cmd) (*Group, error)
			skips bool
		}{{"plain", Start, false}, {"relaxed", StartRelaxed, true}, {"plain again", Start, false}} {
			r, w, err := os.Pipe()
			errtest.Fatal(t, err)
			cmd := exec.Command("sync", flag, "/dev/stdin")
			cmd.Stdin = r
			g := errtest.Must(test.start(cmd))(t)
			<-g.Done()
			if (g.Err() == nil) != test.skips {
				t.Errorf("%s, sync %s: %v, want success = %v", test.name, flag, g.Err(), test.skips)
			}
			r.Close()
			w.Close()
		}
	}
}
