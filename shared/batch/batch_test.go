package batch

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The moves of the contract, section 5, written down a second time.
func TestTransitions(t *testing.T) {
	legal := `AWAITING_UPLOAD UPLOADED
AWAITING_UPLOAD ERROR
UPLOADED VALIDATION_STARTED
UPLOADED ERROR
VALIDATION_STARTED VALIDATION_FAILED
VALIDATION_STARTED PENDING_INGESTION
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
			if from.May(to) {
				got = append(got, string(from)+" "+string(to))
			}
		}
	}
	if diff := cmp.Diff(strings.Split(legal, "\n"), got); diff != "" {
		t.Error(diff)
	}
	for _, s := range Statuses() {
		if want := s == ValidationFailed || s == Processed || s == Failed; s.Final() != want {
			t.Errorf("%s is final: %v", s, s.Final())
		}
		if want := s != AwaitingUpload && s != Uploaded; s.Visible() != want {
			t.Errorf("%s is visible: %v", s, s.Visible())
		}
		for _, from := range Before(s) {
			if !from.May(s) {
				t.Errorf("%s does not lead to %s", from, s)
			}
		}
	}
}

func TestIDsSortByTime(t *testing.T) {
	var last ID
	for range 1000 {
		id, err := NewID()
		if err != nil {
			t.Fatal(err)
		}
		if id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		if parsed, err := ParseID(strings.ToUpper(string(id))); err != nil || parsed != id {
			t.Fatalf("%s parsed as %s, %v", id, parsed, err)
		}
		last = id
	}
}

func TestParseID(t *testing.T) {
	const id = "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f"
	for _, text := range []string{"", "17", id[:35], id + "0", "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", ""), strings.Replace(id, "0", "g", 1), " " + id} {
		if got, err := ParseID(text); !errors.Is(err, ErrNotID) {
			t.Errorf("%q is taken as %s, %v", text, got, err)
		}
	}
	if got, err := ParseID(id); err != nil || got != id {
		t.Errorf("%s, %v", got, err)
	}
}

func TestVerdictIsValid(t *testing.T) {
	for _, tt := range []struct {
		v    Verdict
		want bool
	}{{Verdict{}, false}, {Verdict{Total: 1, Accepted: 1}, true}, {Verdict{Total: 2, Accepted: 1, Invalid: 1}, false}, {Verdict{Total: 1, Invalid: 1}, false}} {
		if tt.v.Valid() != tt.want {
			t.Errorf("%+v: %v", tt.v, tt.v.Valid())
		}
	}
}
