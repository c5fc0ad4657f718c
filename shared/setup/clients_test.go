package setup

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sluice/shared/malware"
)

// Who scans is said by name: nothing stands in for a scanner unasked.
func TestScanner(t *testing.T) {
	for name, tt := range map[string]struct {
		config Config
		// want is of the type of the scanner; nil: GuardDuty tells.
		want  any
		wrong bool
	}{
		"guardduty": {config: Config{MalwareScan: "guardduty", ScanPatience: time.Hour, BatchesTable: "b",
			UploadsBucket: "u"}},
		"builtin": {config: Config{MalwareScan: "builtin"}, want: malware.Builtin{}},
		"clamd": {config: Config{MalwareScan: "clamd", ClamdAddress: "tcp://clamd:3310"},
			want: &malware.Clamd{}},
		"clamd nowhere": {config: Config{MalwareScan: "clamd"}, wrong: true},
		"nobody":        {config: Config{ClamdAddress: "tcp://clamd:3310"}, wrong: true},
		"someone else":  {config: Config{MalwareScan: "GuardDuty"}, wrong: true},
	} {
		scanner, results, err := Env{Config: tt.config, Log: slog.New(slog.DiscardHandler)}.Scanner()
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

// A call to AWS that fails for a reason that passes is repeated, as often as the faults of docs/faults.md are survived.
func TestCallsAreRepeated(t *testing.T) {
	cfg, err := LoadAWS(t.Context(), retrying(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Retryer().MaxAttempts(); got != 5 {
		t.Errorf("a call is attempted up to %d times, want 5", got)
	}
}
