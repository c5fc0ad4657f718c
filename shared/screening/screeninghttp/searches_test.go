package screeninghttp_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/screeninghttp"
	"sluice/shared/screening/watchlist"
)

// startedRuns records the runs that were started, as the ID of the batch and the number of the run. Without an
// execution, their searches stay in progress.
type startedRuns struct {
	mu   sync.Mutex
	runs []string
	// err is returned by Start if it is not nil.
	err error
}

func (s *startedRuns) Start(_ context.Context, b screening.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, fmt.Sprint(b.ID, " ", b.Runs))
	return s.err
}

var listed = watchlist.Entry{ID: "1", Schema: watchlist.Person, Names: []watchlist.Name{{Text: "Ivan Petrov"}}}

// providers returns the providers of a batch, each with its status and why it failed.
func (a *api) providers(batch string) string {
	a.t.Helper()
	var b screeninghttp.BatchReply
	a.succeed("GET", queries+"/batch/"+batch, "", &b)
	text := ""
	for _, p := range b.Providers {
		text += fmt.Sprintf("%s: %s;", p.ID, p.Status)
		if p.ErrorDetails != nil {
			text += " " + p.ErrorDetails.Message
		}
	}
	return text
}

func (a *api) expectProviders(batch, want string) {
	a.t.Helper()
	if got := a.providers(batch); got != want {
		a.t.Errorf("providers: got %q, want %q", got, want)
	}
}

// end ends the search of the built-in provider as an execution would.
func (a *api) end(batch string, reason *screening.ProviderError) {
	a.t.Helper()
	b, err := a.store.Get(a.t.Context(), tenant, batch)
	if err == nil {
		b, _, err = b.FinishProvider(screening.Answer{ID: "a", ProviderID: screening.BuiltIn, Error: reason})
	}
	if err == nil {
		err = a.store.Save(a.t.Context(), b)
	}
	errtest.Fatal(a.t, err)
}

func TestANewBatchPinsListsAndIsSearched(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	shared := a.lists.Import(t, catalog.Shared, "un", listed)
	a.lists.Import(t, catalog.Shared, "own", listed)
	own := a.lists.Import(t, tenant, "own", listed)
	a.lists.Import(t, "b3ac8f2e-7d41-4c55-9a6e-1f0e9d8c7b14", "other", listed)
	id := a.create("", "e")
	a.expectProviders(id, "sluice: Search In Progress;")
	if len(a.started.runs) != 1 || a.started.runs[0] != id+" 1" {
		t.Errorf("started %q, want the first run of the batch", a.started.runs)
	}
	pins := func() string {
		b, err := a.store.Get(t.Context(), tenant, id)
		errtest.Fatal(t, err)
		text := fmt.Sprint(b.Threshold)
		for _, l := range b.Lists {
			text += fmt.Sprintf(" %s/%s/%s", l.Owner, l.List, l.Version)
		}
		return text
	}
	want := fmt.Sprintf("80 %s/own/%s shared/un/%s", tenant, own.Version, shared.Version)
	if got := pins(); got != want {
		t.Errorf("pinned %s, want %s", got, want)
	}
	for _, v := range []catalog.Version{shared, own} {
		if v, err := a.lists.Version(t.Context(), v.VersionRef); err != nil || !v.IsPinned {
			t.Errorf("%s: %v, want it to be pinned", v, err)
		}
	}
	a.lists.Import(t, catalog.Shared, "un", listed, watchlist.Entry{ID: "2", Names: listed.Names})
	a.refuse(400, "screening_nothing_to_run", "POST", commands+"/batch/"+id+"/rerun", `{"data":{}}`)
	a.end(id, &screening.ProviderError{Source: screening.SourceInvoker, Code: "E000", Message: "broken"})
	a.expectProviders(id, "sluice: Return Failed; broken")
	a.refuse(400, "invalid_request", "POST", commands+"/batch/"+id+"/rerun", `{"data":{"providerId":"other"}}`)
	a.succeed("POST", commands+"/batch/"+id+"/rerun", `{"data":{"providerId":"sluice"}}`, nil)
	a.expectProviders(id, "sluice: Search In Progress;")
	if got := pins(); got != want {
		t.Errorf("run again with %s, want the pinned %s", got, want)
	}
	if len(a.started.runs) != 2 || a.started.runs[1] != id+" 2" {
		t.Errorf("started %q, want the second run of the batch", a.started.runs)
	}
	a.end(id, nil)
	a.refuse(400, "screening_nothing_to_run", "POST", commands+"/batch/"+id+"/rerun", `{"data":{}}`)
	a.succeed("PUT", commands+"/batch/"+id+"/complete", "", nil)
	a.refuse(400, "screening_batch_not_open", "POST", commands+"/batch/"+id+"/rerun", `{"data":{}}`)
}

// Without lists the search has failed at once, and can be run when there are some.
func TestABatchWithoutListsFails(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.create("", "e")
	a.expectProviders(id, "sluice: Return Failed; "+screening.ErrNoLists.Message)
	a.succeed("POST", commands+"/batch/"+id+"/rerun", `{"data":{}}`, nil)
	a.expectProviders(id, "sluice: Return Failed; "+screening.ErrNoLists.Message)
	// A list that the configuration names and that nobody has imported is named, also when the search is run again.
	errtest.Fatal(t, a.store.SaveSettings(t.Context(), tenant, screening.Settings{},
		screening.Settings{ActiveLists: []string{"eu"}}))
	a.lists.Import(t, catalog.Shared, "un", listed)
	a.succeed("POST", commands+"/batch/"+id+"/rerun", `{"data":{}}`, nil)
	a.expectProviders(id, `sluice: Return Failed; There is no list "eu". Import it, or name another one, and run the `+
		"screening again.")
	errtest.Fatal(t, a.store.SaveSettings(t.Context(), tenant, screening.Settings{Version: 1},
		screening.Settings{}))
	a.succeed("POST", commands+"/batch/"+id+"/rerun", `{"data":{}}`, nil)
	a.expectProviders(id, "sluice: Search In Progress;")
}

// A start that fails does not fail the request: the sweep starts the search.
func TestAStartThatFailsIsNotTheClientsConcern(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.lists.Import(t, catalog.Shared, "un", listed)
	a.started.err = errors.New("throttled")
	a.expectProviders(a.create("", "e"), "sluice: Search In Progress;")
}

func TestProvidersOfABatch(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.lists.Import(t, catalog.Shared, "un", listed)
	create := func(providers string) string {
		return `{"data":{"entities":[` + person + `}],"providers":[` + providers + `]}}`
	}
	a.succeed("POST", commands+"/batch", create(`{"providerId":"sluice"}`), nil)
	a.refuse(400, "invalid_request", "POST", commands+"/batch", create(
		`{"providerId":"sluice","configurationSetId":"d7a2b1c0-6e5f-4d3c-8b2a-1f0e9d8c7b14"}`))
	a.refuse(400, "invalid_request", "POST", commands+"/batch",
		create(`{"providerId":"sluice"},{"providerId":"sluice"}`))
}
