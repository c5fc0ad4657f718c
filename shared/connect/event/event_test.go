package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func newMessage(payload string) Message {
	return Message{
		ID: NewID(BatchProcessed, "b"), Tenant: "t", Type: BatchProcessed, RelativeURL: "/b", Payload: []byte(payload),
		When:          time.Date(2025, 11, 25, 15, 3, 21, 512e6, time.FixedZone("", 3600)),
		CorrelationID: "b", CausationID: "b",
	}
}

func TestEncode(t *testing.T) {
	got := errtest.Must(newMessage(`{"name": "Zoë & 𝄞 <b>"}`).Encode())(t)
	want := `{"id":"` + NewID(BatchProcessed, "b") +
		`","tenantId":"t","eventType":"batchtransaction:ingestionProcessed",` +
		`"relativeUrl":"/b","payload":{"name":"Zo\u00eb & \ud834\udd1e <b>"},"when":"2025-11-25T14:03:21.512Z",` +
		`"correlationId":"b","causationId":"b"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEncodeRefusesOtherPayloads(t *testing.T) {
	for _, payload := range []string{"", " ", "null", `"x"`, "[]", "{", "{}{}"} {
		errtest.Fails(t, fmt.Sprintf("payload %q", payload), errtest.Of(newMessage(payload).Encode()))
	}
}

// The ID of an event is the same each time, and another one for another type or subject.
func TestNewID(t *testing.T) {
	difftest.Equal(t, "receivers recognise a repeated event by its ID", "dd34539a-0707-5eac-a658-76b1acb60cd9",
		NewID(BatchProcessed, "b"))
	seen := map[string]bool{}
	for _, id := range []string{NewID(BatchProcessed, "b"), NewID(BatchFailed, "b"), NewID(BatchProcessed, "c")} {
		if seen[id] {
			t.Errorf("%s is the ID of two events", id)
		}
		seen[id] = true
	}
}

func TestSource(t *testing.T) {
	for eventType, want := range map[Type]string{
		BatchProcessed: "sluice.batch", BatchRejected: "sluice.batch", BatchFailed: "sluice.batch",
		CertificateExpiring: "sluice.externalauthentication", WebhookDisabled: "sluice.webhook",
		WatchlistUpdated: "sluice.watchlist", RescreeningFinished: "sluice.rescreening",
	} {
		difftest.Equal(t, fmt.Sprintf("source of %s", eventType), want, eventType.Source())
	}
}

// The text of every payload is ASCII, and decodes to the same message.
func FuzzEncode(f *testing.F) {
	f.Add(`{"a":"é𝄞\u2028\ud800"}`, "Zoë")
	f.Add("{\"a\":\"\xff\x7f\u2029\"}", "\xc3")
	f.Add(`{"é": [1e400, {}]}`, "<&>")
	f.Fuzz(func(t *testing.T, payload, tenant string) {
		m := newMessage(payload)
		m.Tenant = tenant
		text, err := m.Encode()
		if err != nil {
			return
		}
		if i := strings.IndexFunc(string(text), func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
			t.Fatalf("byte %d of %q is not ASCII", i, text)
		}
		decoded, err := Decode(text)
		if err != nil {
			t.Fatalf("decode %s: %v", text, err)
		}
		again, err := decoded.Encode()
		if err != nil || string(again) != string(text) {
			t.Errorf("encoded again: %s, %v, want %s", again, err, text)
		}
		var got, want any
		if json.Unmarshal(decoded.Payload, &got) == nil && json.Unmarshal([]byte(payload), &want) == nil {
			difftest.Equal(t, "the payload has changed", want, got)
		}
	})
}
