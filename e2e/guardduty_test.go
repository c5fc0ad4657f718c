package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// What is uploaded waits for the result of a scan that is not ours, which comes by an event, before or after that of S3.
func TestGuardDuty(t *testing.T) {
	h := another(t, "MalwareScan=guardduty", "ChunkBytes=8192")
	onboard(t, h)
	d := enter(t, h)

	began := time.Now().Add(-time.Second)
	for range 10 {
		if s := d.process("", file(valid())); s.Status != "PROCESSED" || s.ReceivedAt.Before(began) || s.ReceivedAt.After(time.Now()) {
			t.Fatal(describe(s), s.ReceivedAt)
		}
	}
	if s := d.process("", []byte(eicar)); s.Status != "ERROR" || !strings.Contains(*s.ErrorMessage, "Eicar-Test-Signature") {
		t.Error(describe(s))
	}
	locked := "PK\x03\x04\x14\x00\x01\x00 an archive with a password"
	if s := d.process("", []byte(locked)); s.Status != "ERROR" || !strings.Contains(*s.ErrorMessage, "could not be scanned") {
		t.Error(describe(s))
	}
	for content, want := range map[string]string{"a letter": "Completed", eicar: "Infected", locked: "Error"} {
		if _, status := d.document(uuid.NewString(), content); status != want {
			t.Errorf("%q: %s, want %s", content, status, want)
		}
	}

	// A scan that fails is asked for again. Such a file's first line is no transaction, so the batch drops it.
	again := append([]byte("# scan results: FAILED NO_THREATS_FOUND\n"), file(valid())...)
	if s := d.process(`{"reject_on_invalid":false}`, again); s.Status != "PROCESSED" || *s.Counts.Invalid != 1 {
		t.Error(describe(s))
	}
	if s := d.process("", []byte("# scan results: THREATS_FOUND\n")); s.Status != "ERROR" || !strings.Contains(*s.ErrorMessage, "refused") {
		t.Error(describe(s))
	}
}
