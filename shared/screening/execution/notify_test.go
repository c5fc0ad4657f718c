package execution_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/execution"
)

// notifiedAdapter records the matches of its calls, and answers with err.
type notifiedAdapter struct {
	err     error
	calls   int
	matches []screening.Match
}

func (a *notifiedAdapter) ResolveMatches(_ context.Context, _, _, _ string, matches []screening.Match) error {
	a.calls++
	a.matches = matches
	return a.err
}

// resolvable stores a batch with two matches of acme and returns it with them.
func (f *fixture) resolvable() (screening.Batch, []screening.Match) {
	f.t.Helper()
	b := f.create("acme", screening.BuiltIn)
	data := screening.MatchData{ProviderID: "acme", ProviderSourceName: "L"}
	f.record(execution.Recorded, b.ID, "acme", execution.Answer{ID: "1", Matches: []screening.Match{
		{EntityID: "e", UniqueID: "acme:1", Data: data}, {EntityID: "f", UniqueID: "acme:2", Data: data}}})
	b = f.get(b.ID)
	var matches []screening.Match
	for _, id := range b.EntityIDs {
		page, _, err := f.store.ListMatches(f.t.Context(), b, id, "", 10)
		errtest.Fatal(f.t, err)
		matches = append(matches, page...)
	}
	if len(matches) != 2 {
		f.t.Fatalf("got the matches %+v, want 2", matches)
	}
	return b, matches
}

// resolve returns the batch and the matches after they were resolved; they are not stored.
func (f *fixture) resolve(b screening.Batch, matches []screening.Match, status screening.MatchStatus) (screening.Batch,
	[]screening.Match) {
	f.t.Helper()
	resolutions := map[string]screening.Resolution{}
	for _, m := range matches {
		resolutions[m.ID] = screening.Resolution{Status: status, Reason: "reason"}
	}
	b, resolved, err := b.Resolve(matches, resolutions)
	errtest.Fatal(f.t, err)
	return b, resolved
}

// There is one notice for each foreign provider; the built-in one needs none.
func TestNotices(t *testing.T) {
	b := screening.Batch{ID: "b", Tenant: tenant, Providers: []screening.ProviderRun{
		{ID: "acme", AnswerID: "x"}, {ID: "other", AnswerID: "y"}, {ID: screening.BuiltIn, AnswerID: "z"}}}
	got := execution.Notices(b, []screening.Match{
		{ID: "1", EntityID: "e", AnswerID: "y", Version: 2}, {ID: "2", EntityID: "e", AnswerID: "z", Version: 2},
		{ID: "3", EntityID: "f", AnswerID: "x", Version: 3}, {ID: "4", EntityID: "f", AnswerID: "y", Version: 2}}, now)
	want := []execution.Notice{
		{Tenant: tenant, BatchID: "b", ProviderID: "acme", At: now, Matches: []execution.ResolvedMatch{{"f", "3", 3}}},
		{Tenant: tenant, BatchID: "b", ProviderID: "other", At: now,
			Matches: []execution.ResolvedMatch{{"e", "1", 2}, {"f", "4", 2}}}}
	difftest.Equal(t, "result", want, got)
	difftest.Len(t, "for nothing", 0, execution.Notices(b, nil, now))
}

// An adapter learns of resolutions once they are stored, and of nothing else.
func TestNotify(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b, matches := f.resolvable()
	clock, adapters := now, &notifiedAdapter{}
	step := &execution.Notify{Store: f.store, Adapters: adapters, Now: func() time.Time { return clock }, Log: quiet}
	after, resolved := f.resolve(b, matches, screening.TrueMatch)
	notice := execution.Notices(after, resolved, now)[0]

	var notStored *execution.NotStored
	if err := step.Handle(t.Context(), notice); !errors.As(err, &notStored) || adapters.calls != 0 {
		t.Fatalf("before the resolutions are stored: got %v after %d calls, want NotStored", err, adapters.calls)
	}
	clock = now.Add(time.Minute)
	if err := step.Handle(t.Context(), notice); err != nil || adapters.calls != 0 {
		t.Fatalf("resolutions that never were stored: got %v after %d calls, want no call", err, adapters.calls)
	}
	clock = now
	errtest.Fatal(t, f.store.Resolve(t.Context(), after, resolved))
	for range 2 { // it may be repeated
		errtest.Fatal(t, step.Handle(t.Context(), notice))
	}
	if adapters.calls != 2 || len(adapters.matches) != 2 ||
		adapters.matches[0].Resolution.Status != screening.TrueMatch {
		t.Errorf("got %d calls with %+v, want 2 with both matches", adapters.calls, adapters.matches)
	}

	// Of two resolutions, both notices send the present one.
	after, resolved = f.resolve(f.get(b.ID), resolved, screening.NoMatch)
	errtest.Fatal(t, f.store.Resolve(t.Context(), after, resolved))
	if err := step.Handle(t.Context(), notice); err != nil ||
		adapters.matches[0].Resolution.Status != screening.NoMatch {
		t.Errorf("got %v and %+v, want what counts now", err, adapters.matches)
	}

	notice.BatchID = "unknown"
	if err := step.Handle(t.Context(), notice); err != nil || adapters.calls != 3 {
		t.Errorf("an unknown batch: got %v after %d calls, want no further one", err, adapters.calls)
	}
}

// A request that is repeated at once shares its notice. One that comes later, when the first execution may have given
// up because nothing was stored, has another: the adapter would otherwise never learn of the resolutions.
func TestRepeatedRequestsAreNoticed(t *testing.T) {
	t.Parallel()
	var names []string
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Name string `json:"name"`
		}
		errtest.Is(t, "Decode", json.NewDecoder(r.Body).Decode(&in), nil)
		if slices.Contains(names, in.Name) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"ExecutionAlreadyExists"}`)
			return
		}
		names = append(names, in.Name)
		fmt.Fprint(w, `{"executionArn":"arn","startDate":1}`)
	}))
	t.Cleanup(machine.Close)
	client := sfn.New(sfn.Options{Region: "us-east-1", BaseEndpoint: aws.String(machine.URL),
		Credentials: aws.AnonymousCredentials{}})
	b := screening.Batch{ID: "b", Tenant: tenant, Providers: []screening.ProviderRun{{ID: "acme", AnswerID: "x"}}}
	resolved := []screening.Match{{ID: "1", EntityID: "e", AnswerID: "x", Version: 2}}
	for _, step := range []struct {
		after time.Duration
		want  int // executions
	}{{0, 1}, {29 * time.Second, 1}, {time.Minute, 2}, {time.Hour, 3}} {
		n := execution.NewNotifier(client, "arn", func() time.Time { return now.Add(step.after) })
		if err := n.Start(t.Context(), b, resolved); err != nil || len(names) != step.want {
			t.Errorf("after %v: got %v and %d executions, want %d", step.after, err, len(names), step.want)
		}
	}
}

// The answer of an adapter decides whether the call is repeated.
func TestNotifyRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b, matches := f.resolvable()
	after, resolved := f.resolve(b, matches, screening.NoMatch)
	errtest.Fatal(t, f.store.Resolve(t.Context(), after, resolved))
	notice := execution.Notices(after, resolved, now)[0]
	for name, test := range map[string]struct {
		err  error
		want any // an error of the type; nil for none
	}{
		"busy": {&execution.Refusal{ProviderError: *adapter.FailedCall("busy"), MayPass: true},
			new(*execution.Unreachable)},
		"rejected": {&execution.Refusal{ProviderError: *adapter.RejectedByAdapter()}, nil},
		"broken":   {errors.New("broken"), new(*execution.Transient)},
	} {
		t.Run(name, func(t *testing.T) {
			step := &execution.Notify{Store: f.store, Adapters: &notifiedAdapter{err: test.err},
				Now: func() time.Time { return now }, Log: quiet}
			err := step.Handle(t.Context(), notice)
			if test.want == nil && err != nil || test.want != nil && !errors.As(err, test.want) {
				t.Errorf("got %v (%T), want %T", err, err, test.want)
			}
		})
	}
}
