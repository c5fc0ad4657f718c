package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// lockedArchive is a file that a malware scanner cannot look into.
const lockedArchive = "PK\x03\x04\x14\x00\x01\x00 an archive with a password"

// With GuardDuty an upload waits for an event that carries the result of the scan. The event may come before that of S3
// or after it.
func TestGuardDuty(t *testing.T) {
	api := guardDutyCloud.begin(t)
	t.Run("clean batches", func(t *testing.T) {
		api := api.in(t)
		started := time.Now().Add(-time.Second)
		for range 10 {
			last := api.expectProcess("PROCESSED", jsonLines(validLine()))
			require(t, !last.ReceivedAt.Before(started) && !last.ReceivedAt.After(time.Now()),
				"received at %v, want a time between %v and now", last.ReceivedAt, started)
		}
	})
	t.Run("refused batches", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct{ name, content, message string }{
			{"malware", eicar, "Eicar-Test-Signature"},
			{"cannot be scanned", lockedArchive, "could not be scanned"},
			{"threats without a name", "# scan results: THREATS_FOUND\n", "refused"},
			{"malware in a packed file", string(packGzip(t, []byte(eicar))), "Eicar-Test-Signature"},
		} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				last := api.in(t).expectProcess("ERROR", []byte(test.content))
				assert(t, strings.Contains(last.ErrorMessage, test.message), "the message is %q, want one with %q",
					last.ErrorMessage, test.message)
			})
		}
	})
	t.Run("packed batches", func(t *testing.T) {
		t.Parallel()
		// The scan of the unpacked copy fails at first. Its first line, which says so, is dropped.
		content := append([]byte("# scan results: FAILED NO_THREATS_FOUND\n"), jsonLines(validLine())...)
		for name, file := range map[string][]byte{"gzip": packGzip(t, content), "zstd": packZstd(t, content)} {
			if last := api.in(t).process(false, file); last.Status != "PROCESSED" || *last.Counts.Invalid != 1 {
				t.Errorf("%s: the batch ended with %s (%q) and counts %+v, want PROCESSED and one invalid line", name,
					last.Status, last.ErrorMessage, last.Counts)
			}
		}
	})
	t.Run("a failed scan is repeated", func(t *testing.T) {
		t.Parallel()
		// The first line scripts the results of the scans. It is not a transaction, so the batch drops it.
		content := append([]byte("# scan results: FAILED NO_THREATS_FOUND\n"), jsonLines(validLine())...)
		if last := api.in(t).process(false, content); last.Status != "PROCESSED" || *last.Counts.Invalid != 1 {
			t.Errorf("the batch ended with %s (%q) and counts %+v, want PROCESSED and one invalid line",
				last.Status, last.ErrorMessage, last.Counts)
		}
	})
	t.Run("documents", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct{ content, status string }{
			{"a letter", "Completed"}, {eicar, "Infected"}, {lockedArchive, "Error"},
		} {
			if _, status := api.in(t).uploadDocument(uuid.NewString(), test.content); status != test.status {
				t.Errorf("the status of %q is %s, want %s", test.content, status, test.status)
			}
		}
	})
}
