package setup

import (
	"log/slog"
	"testing"
	"time"

	"sluice/shared/malware"
)

// Who scans is said by name: nothing stands in for a scanner unasked.
func TestScanners(t *testing.T) {
	for name, tt := range map[string]struct {
		config Config
		lines  any // nil: GuardDuty tells
		wrong  bool
	}{
		"guardduty":     {config: Config{MalwareScan: "guardduty", ScanPatience: time.Hour, BatchesTable: "b", UploadsBucket: "u"}},
		"builtin":       {config: Config{MalwareScan: "builtin"}, lines: malware.Builtin{TextOnly: true}},
		"clamd":         {config: Config{MalwareScan: "clamd", ClamdAddress: "tcp://clamd:3310"}, lines: &malware.Clamd{}},
		"clamd nowhere": {config: Config{MalwareScan: "clamd"}, wrong: true},
		"nobody":        {config: Config{ClamdAddress: "tcp://clamd:3310"}, wrong: true},
		"someone else":  {config: Config{MalwareScan: "GuardDuty"}, wrong: true},
	} {
		lines, documents, results, err := Env{Config: tt.config, Log: slog.New(slog.DiscardHandler)}.Scanners()
		if (err != nil) != tt.wrong {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if told := results != nil; told != (tt.lines == nil) || told == (lines != nil) || told == (documents != nil) {
			t.Errorf("%s: %T, %T, %+v", name, lines, documents, results)
		}
		if results != nil && (results.MaxWait != time.Hour || results.Retry.Attempts < 2) {
			t.Errorf("%s: waits %v, for %d scans; want several within an hour", name, results.MaxWait, results.Retry.Attempts)
		}
		if _, builtin := tt.lines.(malware.Builtin); builtin && (lines != tt.lines || documents != malware.Builtin{}) {
			t.Errorf("%s: %+v, %+v", name, lines, documents)
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
