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
		if results != nil && results.MaxWait != time.Hour {
			t.Errorf("%s: waits %v", name, results.MaxWait)
		}
		if _, builtin := tt.lines.(malware.Builtin); builtin && (lines != tt.lines || documents != malware.Builtin{}) {
			t.Errorf("%s: %+v, %+v", name, lines, documents)
		}
	}
}
