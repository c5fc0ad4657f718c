package transaction_test

import (
	"strings"
	"testing"

	"sluice/shared/ingest/transaction"
)

// A text is a UUID exactly if AppendUUID makes the same text of its value: every byte in every place.
func TestParseUUID(t *testing.T) {
	const digits = "0123456789abcdef"
	for _, uuid := range []string{"01234567-89ab-cdef-fedc-ba9876543210", "00000000-0000-0000-0000-000000000000",
		"ffffffff-ffff-ffff-ffff-ffffffffffff"} {
		for i := range uuid {
			for c := range 256 {
				text := []byte(uuid)
				text[i] = byte(c)
				isUUID := strings.IndexByte(digits, byte(c)) >= 0
				if uuid[i] == '-' {
					isUUID = c == '-'
				}
				value, ok := transaction.ParseUUID(text)
				if ok != isUUID {
					t.Fatalf("%q is a UUID: %t, want %t", text, ok, isUUID)
				}
				if again := transaction.AppendUUID(nil, value[:]); ok && string(again) != string(text) {
					t.Fatalf("%q became %q", text, again)
				}
			}
		}
		for _, text := range []string{uuid[1:], uuid + "0", ""} {
			if _, ok := transaction.ParseUUID([]byte(text)); ok {
				t.Errorf("%q is a UUID", text)
			}
		}
	}
}
