package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"sluice/shared/connect/event"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var now = time.Date(2025, 11, 25, 14, 3, 21, 512e6, time.UTC)

func newEvent(id string, t event.Type, when time.Time) event.Message {
	return event.Message{ID: id, Tenant: "tenant", Type: t, RelativeURL: "/b", Payload: []byte(`{"name":"é"}`),
		When: when}
}

func TestWants(t *testing.T) {
	for _, test := range []struct {
		types []string
		want  bool
	}{
		{[]string{"*"}, true},
		{[]string{string(event.BatchFailed), string(event.BatchProcessed)}, true},
		{[]string{string(event.BatchFailed)}, false},
		{[]string{"batchtransaction:*"}, false},
		{nil, false},
	} {
		difftest.Equal(t, fmt.Sprintf("%q wants %s", test.types, event.BatchProcessed), test.want,
			(Webhook{EventTypes: test.types}).Wants(event.BatchProcessed))
	}
}

func TestCheckEventTypes(t *testing.T) {
	processed, failed := string(event.BatchProcessed), string(event.BatchFailed)
	for _, test := range []struct {
		name  string
		types []string
		ok    bool
		index int
	}{
		{"all", []string{"*"}, true, -1},
		{"two types", []string{processed, failed}, true, -1},
		{"none", nil, false, -1},
		{"all beside another", []string{processed, "*"}, false, 1},
		{"all before another", []string{"*", processed}, false, 0},
		{"twice", []string{processed, failed, processed}, false, 2},
		{"unknown", []string{processed, "batch:processed"}, false, 1},
		{"empty", []string{""}, false, 0},
		{"another case", []string{strings.ToUpper(processed)}, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			message, index := CheckEventTypes(test.types)
			if (message == "") != test.ok || index != test.index {
				t.Errorf("got %q at %d, want ok %v at %d", message, index, test.ok, test.index)
			}
		})
	}
	if message, _ := CheckEventTypes([]string{processed, failed, processed}); !strings.Contains(message, processed) ||
		!strings.Contains(message, "at 0 and 2") {
		t.Errorf("the message %q does not name the type and its places", message)
	}
}

// While a secret is being replaced both sign; a third one takes the place of the first at once.
func TestReplaceSecret(t *testing.T) {
	w := Webhook{Secret: []byte("first")}
	check := func(at time.Time, current, previous string) {
		t.Helper()
		if c, p := w.SigningSecrets(at); string(c) != current || string(p) != previous {
			t.Errorf("got %q and %q, want %q and %q", c, p, current, previous)
		}
	}
	check(now, "first", "")
	w.ReplaceSecret([]byte("second"), now)
	check(now, "second", "first")
	check(now.Add(SecretOverlap-1), "second", "first")
	check(now.Add(SecretOverlap), "second", "")
	w.ReplaceSecret([]byte("third"), now.Add(time.Hour))
	check(now.Add(SecretOverlap), "third", "second")
	check(now.Add(SecretOverlap+time.Hour), "third", "")
}

func TestNewDeliveryID(t *testing.T) {
	const want = "019abb53-7a28-7"
	id := NewDeliveryID("event", "webhook", now)
	if !strings.HasPrefix(id, want) {
		t.Errorf("got %s, want a UUIDv7 that begins with %s", id, want)
	}
	difftest.Equal(t, "for the same event in another zone", id,
		NewDeliveryID("event", "webhook", now.In(time.FixedZone("", 3600))))
	for _, other := range []string{NewDeliveryID("other", "webhook", now), NewDeliveryID("event", "other", now)} {
		if other == id {
			t.Errorf("another event or webhook has the same ID %s", id)
		}
	}
	// IDs are in the order of time, and FirstDeliveryID is not after any of its time.
	inOrder := func(a, b uint32, event string) bool {
		early, late := time.UnixMilli(int64(min(a, b))*1000), time.UnixMilli(int64(max(a, b))*1000+1)
		return NewDeliveryID(event, "w", early) < NewDeliveryID("e", "w", late) &&
			FirstDeliveryID(late) <= NewDeliveryID(event, "w", late) &&
			NewDeliveryID(event, "w", early) < FirstDeliveryID(late)
	}
	errtest.Fatal(t, quick.Check(inOrder, nil))
}

func TestBody(t *testing.T) {
	single, err := NewDelivery(Webhook{ID: "w", Tenant: "tenant", Type: Single}, newEvent("1", event.BatchFailed, now),
		now)
	errtest.Fatal(t, err)
	if got := single.Body(); !bytes.Equal(got, single.Messages[0].Text) || !json.Valid(got) {
		t.Errorf("a single message is sent as %s, want %s", got, single.Messages[0].Text)
	}
	batch, err := NewDelivery(Webhook{ID: "w", Tenant: "tenant", Type: Batch}, newEvent("1", event.BatchFailed, now),
		now)
	if err != nil || !batch.IsOpen || single.IsOpen {
		t.Fatalf("the batch is open: %v, the single delivery: %v, %v; want true and false", batch.IsOpen, single.IsOpen,
			err)
	}
	batch.Messages = append(batch.Messages, Message{ID: "2", Text: []byte(`{"id":"2"}`)})
	want := `{"messages":[` + string(single.Messages[0].Text) + `,{"id":"2"}]}`
	difftest.Equal(t, "Body", want, string(batch.Body()))
	errtest.Fails(t, "a message without a payload was accepted",
		errtest.Of(NewDelivery(Webhook{Type: Single}, event.Message{}, now)))
}

func TestHasRoom(t *testing.T) {
	d := Delivery{IsOpen: true, Messages: []Message{{Text: make([]byte, 1000)}}}
	for _, test := range []struct {
		name            string
		open            bool
		bytes, messages int
		want            bool
	}{
		{"room", true, 1000, 10, true},
		{"to the last byte", true, MaxBodyBytes - 1000, 10, true},
		{"one byte over", true, MaxBodyBytes - 999, 10, false},
		{"last message", true, 1, 2, true},
		{"full", true, 1, 1, false},
		{"closed", false, 1, 10, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			d.IsOpen = test.open
			difftest.Equal(t, "CanCollect", test.want, d.CanCollect(test.bytes, test.messages))
		})
	}
}

var dayPolicy = Policy{
	FirstPause: 5 * time.Second, MaxPause: time.Hour, Patience: 24 * time.Hour, DisableAfter: 5 * 24 * time.Hour,
}

// A receiver that is down for a day is tried about thirty times, at growing pauses, the last time when the day ends.
func TestNextAttempt(t *testing.T) {
	var pauses []time.Duration
	at := now
	for {
		next, ok := dayPolicy.NextAttempt(now, at, len(pauses)+1, 0.5)
		if !ok {
			break
		}
		pauses = append(pauses, next.Sub(at))
		at = next
	}
	want := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second}
	if !slices.Equal(pauses[:5], want) {
		t.Errorf("the first pauses are %v, want %v", pauses[:5], want)
	}
	if len(pauses) != 33 || !slices.IsSorted(pauses[:len(pauses)-1]) {
		t.Errorf("%d pauses %v, want 33 that grow", len(pauses), pauses)
	}
	if want := now.Add(24 * time.Hour); !at.Equal(want) {
		t.Errorf("the last attempt is at %v, want %v", at, want)
	}
}

// For every policy and random number, a pause is positive, bounded, and not after the end.
func TestNextAttemptIsBounded(t *testing.T) {
	property := func(first, most, patience, elapsed uint16, failed uint8, chance uint16) bool {
		p := Policy{
			FirstPause: time.Duration(first)*time.Second + 1, MaxPause: time.Duration(most)*time.Second + 1,
			Patience: time.Duration(patience) * time.Second,
		}
		at := now.Add(time.Duration(elapsed) * time.Second)
		next, ok := p.NextAttempt(now, at, int(failed)+1, float64(chance)/(1<<16))
		if !ok {
			return elapsed >= patience
		}
		pause := next.Sub(at)
		return pause >= 0 && pause <= p.MaxPause*5/4+1 && !next.After(now.Add(p.Patience))
	}
	errtest.Fatal(t, quick.Check(property, nil))
}

func TestDisablesAt(t *testing.T) {
	if got := dayPolicy.DisablesAt(Health{}); !got.IsZero() {
		t.Errorf("got %v for a webhook that works, want no time", got)
	}
	if got, want := dayPolicy.DisablesAt(Health{FailingSince: now}), now.AddDate(0, 0, 5); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCheckURL(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://receiver.test":                                 true,
		"https://receiver.test:8443/a/b?c=d%20e":                true,
		"https://127.0.0.1/":                                    true, // refused when it is called
		"https://[::1]:9000/":                                   true,
		"HTTPS://receiver.test":                                 true,
		"https://a.test/" + strings.Repeat("a", MaxURLBytes-15): true,
		"https://a.test/" + strings.Repeat("a", MaxURLBytes-14): false,
		"https://127.1/":                                        false,
		"https://2130706433/":                                   false,
		"https://0x7f000001/":                                   false,
		"https://receiver.test:0/":                              false,
		"https://receiver.test:65535/":                          true,
		"https://receiver.test:65536/":                          false,
		"https://[fe80::1%25lo]/":                               false,
		"https://xn--/":                                         false,
		"https://receiver..test/":                               false,
		"http://receiver.test":                                  false,
		"ftp://receiver.test":                                   false,
		"//receiver.test":                                       false,
		"receiver.test":                                         false,
		"https:receiver.test":                                   false,
		"https://":                                              false,
		"https:///path":                                         false,
		"https://:443/":                                         false,
		"https://user@receiver.test":                            false,
		"https://user:password@receiver.test":                   false,
		"https://receiver.test/#a":                              false,
		"https://receiver.test/#":                               false,
		"https://receiver.test/a b":                             false,
		"https://receiver.test/é":                               false,
		"https://receiver.test/\r\nX: y":                        false,
		"https://receiver.test/%zz":                             false,
		"https://receiver.test:port/":                           false,
		" https://receiver.test":                                false,
		"":                                                      false,
	} {
		if message := CheckURL(url); (message == "") != ok {
			t.Errorf("%q: %q, want ok: %v", url, message, ok)
		}
	}
}

// A URL that is accepted makes a request to its host alone.
func FuzzCheckURL(f *testing.F) {
	f.Add("https://receiver.test:8443/a?b=c")
	f.Add("https://a@b#c")
	f.Add("https://[fe80::1%25eth0]/")
	f.Fuzz(func(t *testing.T, text string) {
		if CheckURL(text) != "" {
			return
		}
		r, err := http.NewRequest(http.MethodPost, text, nil)
		if err != nil {
			t.Fatalf("%q was accepted, but makes no request: %v", text, err)
		}
		if r.URL.Scheme != "https" || r.URL.Hostname() == "" || r.URL.User != nil || strings.ContainsAny(text,
			"\r\n #") {
			t.Errorf("%q was accepted as %#v", text, r.URL)
		}
	})
}
