package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

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
		if got := formatVersion(info); got != want {
			t.Errorf("formatVersion = %q, want %q", got, want)
		}
	}
}
