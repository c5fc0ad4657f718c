package batchsetup

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sluice/functions/setup"
	"sluice/shared/kit/malware"
)

// Who scans is said by name: nothing stands in for a scanner unasked.
func TestScanner(t *testing.T) {
	for name, tt := range map[string]struct {
		config setup.Config
		// want is of the type of the scanner; nil: GuardDuty tells.
		want  any
		wrong bool
	}{
		"guardduty": {config: setup.Config{MalwareScan: "guardduty", ScanPatience: time.Hour, BatchesTable: "b",
			UploadsBucket: "u"}},
		"builtin": {config: setup.Config{MalwareScan: "builtin"}, want: malware.Builtin{}},
		"clamd": {config: setup.Config{MalwareScan: "clamd", ClamdAddress: "tcp://clamd:3310"},
			want: &malware.Clamd{}},
		"clamd nowhere": {config: setup.Config{MalwareScan: "clamd"}, wrong: true},
		"nobody":        {config: setup.Config{ClamdAddress: "tcp://clamd:3310"}, wrong: true},
		"someone else":  {config: setup.Config{MalwareScan: "GuardDuty"}, wrong: true},
	} {
		scanner, results, err := NewScanner(setup.Env{Config: tt.config, Log: slog.New(slog.DiscardHandler)})
		if (err != nil) != tt.wrong {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if told := results != nil; told != (tt.want == nil) || told == (scanner != nil) {
			t.Errorf("%s: %T, %+v", name, scanner, results)
		}
		if results != nil && (results.MaxWait != time.Hour || results.Retry.Attempts < 2) {
			t.Errorf("%s: waits %v, for %d scans; want several within an hour", name, results.MaxWait,
				results.Retry.Attempts)
		}
		if got, want := fmt.Sprintf("%T", scanner), fmt.Sprintf("%T", tt.want); got != want {
			t.Errorf("%s: got a scanner %s, want %s", name, got, want)
		}
	}
}
