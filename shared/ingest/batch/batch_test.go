package batch

import (
	"fmt"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// TestTransitions repeats the table of legal transitions, so that none changes unnoticed.
func TestTransitions(t *testing.T) {
	legal := `AWAITING_UPLOAD UPLOADED
AWAITING_UPLOAD ERROR
UPLOADED VALIDATION_STARTED
UPLOADED ERROR
VALIDATION_STARTED VALIDATION_FAILED
VALIDATION_STARTED PENDING_INGESTION
VALIDATION_STARTED PROCESSED
VALIDATION_STARTED ERROR
PENDING_INGESTION INITIALIZED
PENDING_INGESTION ERROR
INITIALIZED IN_PROGRESS
INITIALIZED ERROR
IN_PROGRESS PROCESSED
IN_PROGRESS ERROR`
	var got []string
	for _, from := range Statuses() {
		for _, to := range Statuses() {
			if from.CanTransitionTo(to) {
				got = append(got, string(from)+" "+string(to))
			}
		}
	}
	difftest.Equal(t, "legal transitions", strings.Split(legal, "\n"), got)
	for _, s := range Statuses() {
		if want := s == ValidationFailed || s == Processed || s == Failed; s.IsTerminal() != want {
			t.Errorf("%s.IsTerminal() = %v, want %v", s, !want, want)
		}
		if want := s != AwaitingUpload && s != Uploaded; s.IsVisible() != want {
			t.Errorf("%s.IsVisible() = %v, want %v", s, !want, want)
		}
		for _, from := range s.Predecessors() {
			if !from.CanTransitionTo(s) {
				t.Errorf("%s is a predecessor of %s and does not lead to it", from, s)
			}
		}
	}
}

func TestIDsSortByTime(t *testing.T) {
	var last ID
	for range 1000 {
		id := errtest.Must(NewID())(t)
		if id <= last {
			t.Fatalf("NewID() = %s after %s, want a greater one", id, last)
		}
		if parsed, err := ParseID(strings.ToUpper(string(id))); err != nil || parsed != id {
			t.Fatalf("%s parsed as %s, %v", id, parsed, err)
		}
		last = id
	}
}

func TestParseID(t *testing.T) {
	const id = "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f"
	for _, text := range []string{
		"", "17", id[:35], id + "0", "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", ""),
		strings.Replace(id, "0", "g", 1), " " + id,
	} {
		errtest.Is(t, fmt.Sprintf("ParseID(%q)", text), errtest.Of(ParseID(text)), ErrNotID)
	}
	if got, err := ParseID(id); err != nil || got != id {
		t.Errorf("ParseID(%q) = %q, error %v, want the same ID", id, got, err)
	}
}

func TestVerdictIsValid(t *testing.T) {
	for _, tt := range []struct {
		v    Verdict
		want bool
	}{
		{Verdict{}, false},
		{Verdict{Total: 1, Accepted: 1}, true},
		{Verdict{Total: 2, Accepted: 1, Invalid: 1}, false},
		{Verdict{Total: 1, Invalid: 1}, false},
	} {
		if tt.v.Valid() != tt.want {
			t.Errorf("%+v.Valid() = %v, want %v", tt.v, !tt.want, tt.want)
		}
	}
}
