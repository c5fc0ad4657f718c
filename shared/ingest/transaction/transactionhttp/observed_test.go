package transactionhttp_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/observation"
)

// expectCounts compares the numbers of the requests of the day, and the modifications that were refused.
func (s *singles) expectCounts(t *testing.T, want observation.Counts, refused ...string) {
	t.Helper()
	const day = "2026-11-26"
	counts, err := s.observations.Count(t.Context(), tenantID, day, day)
	if err != nil || counts[day] != want {
		t.Errorf("got %+v, %v, want %+v", counts, err, want)
	}
	ids, _, err := s.observations.Refused(t.Context(), tenantID, day, "", 100)
	if diff := cmp.Diff(refused, ids); err != nil || diff != "" {
		t.Errorf("refused modifications, error %v (-want +got):\n%s", err, diff)
	}
}

// Each request that stores a transaction or refuses one that can be read is observed once.
func TestSingleTransactionsAreObserved(t *testing.T) {
	s := newSingles(t)
	for i, c := range []struct {
		body   string
		at     time.Duration
		status int
	}{
		{single(), 0, 201},
		{single(), time.Second, 201}, // the same
		{single("12.50", "13"), time.Second, 201},
		{single("12.50", "14"), time.Second, 409},
		{single(`"m"`, `"other"`, `"known"`, `"nobody"`), 2 * time.Second, 400},
		{single(`"m"`, `"`+strings.Repeat("m", 300)+`"`), 3 * time.Second, 400},
		{`{"modification":{}}`, 4 * time.Second, 400},
		{`{"modification":{"external_id":"m"},}`, 5 * time.Second, 422}, // is no transaction
	} {
		s.now = now.Add(c.at)
		if r := s.post(t, c.body); r.StatusCode != c.status {
			t.Fatalf("request %d: got %d %s, want %d", i, r.StatusCode, r.Body, c.status)
		}
	}
	s.expectCounts(t, observation.Counts{Stored: 2, Refused: 4}, "m", "other", strings.Repeat("m", 255)+"…")
	if s.log.Len() != 0 {
		t.Errorf("logged %s, want nothing", s.log.String())
	}
}

// A transaction is found by its payment, a stored one until it expires, from the time of its receipt on although it is
// sent again.
func TestSingleTransactionsAreFoundByPayment(t *testing.T) {
	s := newSingles(t)
	s.caller.Attributes = tenancy.Settings{Retention: 48 * time.Hour}.Attributes()
	refused := single(`"known"`, `"nobody"`, `"m"`, `"other"`)
	for i, body := range []string{single(), refused, single()} {
		s.now = now.Add(time.Duration(i) * time.Hour)
		s.post(t, body)
	}
	got, _, err := s.observations.Find(t.Context(), tenantID, observation.Payment, "p", "", 10, s.now)
	want := []observation.Event{
		{Tenant: tenantID, At: now.Add(time.Hour), TransactionID: "x", ModificationID: "other", PaymentID: "p",
			Status: 400},
		{Tenant: tenantID, At: now, TransactionID: "x", ModificationID: "m", PaymentID: "p", Status: 201,
			Expires: now.Add(48 * time.Hour)},
	}
	var events []observation.Event
	for _, f := range got {
		events = append(events, f.Event)
	}
	if diff := cmp.Diff(want, events); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// What became of a transaction is answered, and stays so, whether it can be recorded or not. A stored transaction is
// recorded when it is sent again, with the time at which it was stored, as long as it can be asked for.
func TestSingleTransactionThatCannotBeRecorded(t *testing.T) {
	s := newSingles(t)
	s.recordError = errors.New("the table does not answer")
	refused := single(`"known"`, `"nobody"`)
	if r := s.post(t, single()); r.StatusCode != 201 || len(s.stored(t)) != 1 {
		t.Errorf("got %d %s, and %d versions are stored, want 201 and 1", r.StatusCode, r.Body, len(s.stored(t)))
	}
	if r := s.post(t, refused); r.StatusCode != 400 || !strings.Contains(r.Body, "entity_not_found") {
		t.Errorf("got %d %s, want 400 with the reason", r.StatusCode, r.Body)
	}
	if logged := s.log.String(); strings.Count(logged, "WARN") != 2 || !strings.Contains(logged, "does not answer") {
		t.Errorf("logged %q, want two warnings", logged)
	}
	s.recordError = nil
	s.expectCounts(t, observation.Counts{})
	s.caller.Expires = now.Add(1000 * time.Hour)
	for _, c := range []struct {
		after time.Duration
		want  observation.Counts
	}{{observation.Life, observation.Counts{}}, {observation.Life - 1, observation.Counts{Stored: 1}}} {
		s.now = now.Add(c.after)
		if r := s.post(t, single()); r.StatusCode != 201 || len(s.stored(t)) != 1 {
			t.Errorf("again: got %d %s, and %d versions are stored, want 201 and 1", r.StatusCode, r.Body,
				len(s.stored(t)))
		}
		s.expectCounts(t, c.want)
	}
}
