package screening_test

import (
	"errors"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
)

func TestClose(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	searching := []screening.ProviderRun{{ID: "p", Status: screening.SearchInProgress}}
	failed := []screening.ProviderRun{{ID: "p", Status: screening.ReturnFailed}}
	for _, test := range []struct {
		name  string
		batch screening.Batch
		want  error
	}{
		{"nothing to do", screening.Batch{Status: screening.Open}, nil},
		{"a provider failed", screening.Batch{Status: screening.Open, Providers: failed}, nil},
		{"a provider searches", screening.Batch{Status: screening.Open, Providers: searching}, screening.ErrUnfinished},
		{"a match is unresolved", screening.Batch{Status: screening.Open, Unresolved: 1}, screening.ErrUnresolved},
		{"closed", screening.Batch{Status: screening.Closed}, screening.ErrNotOpen},
		{"overridden", screening.Batch{Status: screening.Overridden}, screening.ErrNotOpen},
	} {
		t.Run(test.name, func(t *testing.T) {
			closed, err := test.batch.Close(at)
			errtest.Is(t, "error", err, test.want)
			if err == nil && (closed.Status != screening.Closed || closed.ClosedAt != at || closed.Version != 1) {
				t.Errorf("got %+v, want it closed at %v with the next version", closed, at)
			}
		})
	}
}

func TestFinishProvider(t *testing.T) {
	t.Parallel()
	b := screening.Batch{Status: screening.Open,
		Providers: []screening.ProviderRun{{ID: "p", Status: screening.SearchInProgress}}}
	if _, _, err := b.FinishProvider(screening.Answer{ProviderID: "q"}); !errors.Is(err, screening.ErrNotFound) {
		t.Errorf("another provider: got %v, want ErrNotFound", err)
	}
	failed, isFirst, err := b.FinishProvider(screening.Answer{ID: "a", ProviderID: "p", Matches: 3,
		Error: &screening.ProviderError{Source: "Adapter", Code: "E001"}})
	if err != nil || !isFirst || failed.Unresolved != 0 || failed.Providers[0].Status != screening.ReturnFailed ||
		failed.HasAnswer("a") {
		t.Errorf("a failure: got %+v, %v, %v, want Return Failed without matches", failed, isFirst, err)
	}
	difftest.Equal(t, "the batch before the answer has changed", screening.SearchInProgress, b.Providers[0].Status)
	done, _, err := b.FinishProvider(screening.Answer{ID: "a", ProviderID: "p", Matches: 3})
	if err != nil || done.Unresolved != 3 || done.Matches != 3 || !done.HasAnswer("a") || done.HasAnswer("") {
		t.Errorf("an answer: got %+v, %v, want three unresolved matches", done, err)
	}
	again, isFirst, err := done.FinishProvider(screening.Answer{ID: "b", ProviderID: "p", Matches: 5})
	if err != nil || isFirst || again.Matches != 3 || again.Version != done.Version {
		t.Errorf("a second answer: got %+v, %v, %v, want nothing to change", again, isFirst, err)
	}
	closed := b
	closed.Status = screening.Overridden
	if _, _, err := closed.FinishProvider(screening.Answer{ProviderID: "p"}); !errors.Is(err, screening.ErrNotOpen) {
		t.Errorf("an answer to an overridden batch: got %v, want ErrNotOpen", err)
	}
}

func TestHasName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		criteria screening.SearchCriteria
		name     string
		want     bool
	}{
		{screening.SearchCriteria{Type: screening.Individual, FullName: "A B"}, "A B", true},
		{screening.SearchCriteria{Type: screening.Individual, FirstName: "A", LastName: "B"}, "A B", true},
		{screening.SearchCriteria{Type: screening.Individual, FirstName: "A"}, "A", false},
		{screening.SearchCriteria{Type: screening.Individual, FullName: " \t"}, " \t", false},
		{screening.SearchCriteria{Type: screening.Company, FullName: "A"}, "", false},
		{screening.SearchCriteria{Type: screening.Company, LegalEntityName: "A"}, "A", true},
	} {
		if got := test.criteria.HasName(); got != test.want || test.criteria.Name() != test.name {
			t.Errorf("%+v: got %v, %q, want %v, %q", test.criteria, got, test.criteria.Name(), test.want, test.name)
		}
	}
}
