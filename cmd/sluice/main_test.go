package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"sluice/shared/kit/difftest"
)

// fullDisk takes some writes and fails after them.
type fullDisk struct{ left int }

func (w *fullDisk) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// A command whose output does not fit on the disk has failed, also if it prints lines for people.
func TestOutputThatCannotBeWritten(t *testing.T) {
	cost := []string{"cost", "--lines", "1", "--bytes", "1"}
	for name, test := range map[string]struct {
		args []string
		left int
	}{
		"help": {[]string{"help"}, 0}, "its end": {[]string{"help"}, 1}, "lines": {cost, 0}, "last lines": {cost, 5},
		"JSON": {append(cost, "--json"), 0}, "version": {[]string{"version"}, 0},
	} {
		var stderr strings.Builder
		code := runProgram(t.Context(), test.args, &fullDisk{test.left}, &stderr)
		if code != 2 || strings.Count(stderr.String(), "no space left on device") != 1 {
			t.Errorf("%s: exit code %d, %q; want 2 and the reason once", name, code, stderr.String())
		}
	}
}

func TestFormatVersion(t *testing.T) {
	platform := ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "81ffcd1"}
	at := debug.BuildSetting{Key: "vcs.time", Value: "2026-01-31T00:00:00Z"}
	modified := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for want, info := range map[string]*debug.BuildInfo{
		"sluice of unknown version" + platform: nil,
		"sluice v0.1.0" + platform:             {Main: debug.Module{Version: "v0.1.0"}},
		"sluice (devel), revision 81ffcd1 of 2026-01-31T00:00:00Z with changes" + platform: {
			Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{revision, at, modified},
		},
		"sluice (devel), revision 81ffcd1" + platform: {
			Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{revision},
		},
	} {
		difftest.Equal(t, "formatVersion", want, formatVersion(info))
	}
}
