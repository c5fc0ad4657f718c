package rescreening_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/shared/connect/event"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/rescreening"
	"sluice/shared/screening/watchlist"
)

// New entries appear in a new batch of the journey, which replaces no other one. Nothing else does, nor a second time.
func TestNewEntries(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first := catalogtest.Person("1", "Anatoly Velkanov")
	o.update(first)
	b := o.screen("journey", asked, "Boris Testov")
	old := o.screen("replaced", asked)
	o.screen("replaced", "Nobody Known")
	o.expect("without a change", asked, "")
	difftest.Equal(t, "events without a change", 0, len(o.events))
	o.update(first, catalogtest.Person("2", "Anatolij Velkanov"))
	o.expect("with a new entry", asked, "[2]")
	o.expect("for someone else", "Boris Testov", "")
	batches := o.batches(asked)
	added := batches[len(batches)-1]
	if added.JourneyID != "journey" || added.ProcessID == b.ProcessID || len(added.EntityIDs) != 1 ||
		added.Unresolved != 1 ||
		added.Status != screening.Open || added.Lists[0].Version == b.Lists[0].Version {
		t.Errorf("the new batch is %+v", added)
	}
	difftest.Equal(t, "the first batch", screening.Open, errtest.Must(o.store.Get(t.Context(), tenant, b.ID))(t).Status)
	if stored, err := o.store.Get(t.Context(), tenant, old.ID); err != nil || stored.Status != screening.Overridden {
		t.Errorf("the replaced batch is %s, %v", stored.Status, err)
	}
	if v, err := o.lists.Version(t.Context(), catalog.VersionRef{Owner: catalog.Shared, List: "un",
		Version: added.Lists[0].Version}); err != nil ||
		!v.IsPinned {
		t.Errorf("the version of the new batch is pinned: %t, %v", v.IsPinned, err)
	}
	o.expectEvents(added.ID)
}

// expectEvents checks the two events of a round with one new batch.
func (o *office) expectEvents(batchID string) {
	o.t.Helper()
	if len(o.events) != 2 || o.events[0].Type != event.WatchlistUpdated ||
		o.events[1].Type != event.RescreeningFinished {
		o.t.Fatalf("events %+v", o.events)
	}
	var update rescreening.UpdatePayload
	var end rescreening.EndPayload
	o.must(json.Unmarshal(o.events[0].Payload, &update))
	o.must(json.Unmarshal(o.events[1].Payload, &end))
	if !update.IsShared || update.List != "un" || update.PreviousVersion == nil || update.Changes == nil ||
		update.Changes.Added != 1 {
		o.t.Errorf("payload %s", o.events[0].Payload)
	}
	if end.NewMatches != 1 || !slices.Equal(end.Batches, []string{batchID}) || end.BatchCount != 1 ||
		end.NamesScreened != 3 ||
		end.Version != update.Version {
		o.t.Errorf("payload %s", o.events[1].Payload)
	}
}

// A cleared match does not come back, under any ID, until the identity of the entry changes.
func TestClearedPairs(t *testing.T) {
	t.Parallel()
	person := catalogtest.Person
	amended := person("1", asked)
	amended.Countries = []string{"ru"}
	for _, test := range []struct {
		name string
		// updates are the versions of the list after the one of the clearing.
		updates [][]watchlist.Entry
		want    string
	}{
		{"as it was", [][]watchlist.Entry{{person("1", asked), person("2", "Boris Testov")}}, ""},
		{"another country", [][]watchlist.Entry{{amended}}, ""},
		{"another name", [][]watchlist.Entry{{person("1", asked, "Tolya Velkanov")}}, "[1]"},
		{"a birth date", [][]watchlist.Entry{{born(person("1", asked), "1958")}}, "[1]"},
		{"another ID", [][]watchlist.Entry{{person("9", asked)}}, ""},
		{"another ID and a birth date", [][]watchlist.Entry{{born(person("9", asked), "1958")}}, "[9]"},
		{"another ID, then a birth date", [][]watchlist.Entry{{person("9", asked)}, {born(person("9", asked), "1958")}},
			"[9]"},
		{"gone and there again", [][]watchlist.Entry{{}, {person("1", asked)}}, ""},
		{"gone and there again, otherwise", [][]watchlist.Entry{{}, {born(person("1", asked), "1958")}}, "[1]"},
		{"another one of the same name", [][]watchlist.Entry{{person("1", asked), person("2", asked)}}, "[2]"},
		{"forth and back", [][]watchlist.Entry{{person("1", asked), person("2", asked)}, {person("1", asked)},
			{person("1", asked), person("2", asked)}}, "[2]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.update(person("1", asked))
			o.screen("journey", asked)
			o.resolve(asked, screening.NoMatch)
			o.expect("before any change", asked, "")
			for i, entries := range test.updates {
				o.update(entries...)
				if i < len(test.updates)-1 {
					o.must(o.Run(t.Context()))
				}
			}
			o.expect("after the changes", asked, test.want)
		})
	}
}

// An entry whose identity is unchanged may still have new matches.
func TestAmendedEntries(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	entry := catalogtest.Person("1", "Anatolij Velkanoff")
	entry.Countries = []string{"us"}
	o.update(entry)
	o.criteria.Nationality = "ru"
	o.screen("journey", asked)
	if b := o.batches(asked)[0]; b.Matches != 0 {
		t.Fatalf("the first batch has %d matches, want none because of the country", b.Matches)
	}
	o.expect("before", asked, "")
	entry.Countries = []string{"ru"}
	o.update(entry)
	o.expect("another country", asked, "[1]")
}

// Two entries that were cleared are merged into one: it stays cleared unless it says more than both.
func TestClearedPairsAreMerged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		merged watchlist.Entry
		want   string
	}{
		"no more": {catalogtest.Person("2", "Anatolij Velkanov", asked), ""},
		"more":    {catalogtest.Person("2", "Anatolij Velkanov", asked, "Tolya Velkanov"), "[2]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.update(catalogtest.Person("1", asked), catalogtest.Person("2", "Anatolij Velkanov"))
			o.screen("journey", asked)
			o.resolve(asked, screening.NoMatch)
			o.expect("before", asked, "")
			o.update(test.merged)
			o.expect("merged", asked, test.want)
		})
	}
}

// Matches that people have before them, or have found to be true, do not come back either, however their entry changes.
func TestOpenMatches(t *testing.T) {
	t.Parallel()
	for _, status := range []screening.MatchStatus{screening.Unresolved, screening.TrueMatch} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.update(catalogtest.Person("1", asked))
			o.screen("journey", asked)
			o.resolve(asked, status)
			o.expect("before", asked, "")
			o.update(born(catalogtest.Person("1", asked), "1958"))
			o.expect("changed", asked, "")
		})
	}
}

// Cleared pairs do not count against a limit, and further matches go into another batch.
func TestLimitOfMatches(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var entries []watchlist.Entry
	add := func(n int) {
		for range n {
			entries = append(entries, catalogtest.Person(fmt.Sprint(len(entries)+1), asked))
		}
		o.update(entries...)
	}
	add(5)
	o.screen("journey", asked)
	o.resolve(asked, screening.NoMatch)
	o.expect("before", asked, "")
	add(2)
	o.expect("two new ones", asked, "[6 7]")
	add(3)
	o.expect("three more", asked, "[10][6 7][8 9]")
}

// A round that fails is finished by the next run, and by no more than it takes.
func TestRoundsGoOn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.update(catalogtest.Person("1", "Someone Known"))
	o.screen("journey", asked, "Boris Testov", "Nobody Known")
	o.must(o.Run(t.Context()))
	o.update(catalogtest.Person("1", "Someone Known"), catalogtest.Person("2", asked))
	for range 2 { // at the beginning
		o.failures = 1
		if err := o.Run(t.Context()); err == nil {
			t.Error("an event that cannot be sent is no error")
		}
	}
	ended := errors.New("ended")
	o.Events = sender(func(m event.Message) error {
		if m.Type == event.RescreeningFinished {
			return ended
		}
		return o.Send(t.Context(), m)
	})
	for range 2 { // at the end
		errtest.Is(t, "Run", o.Run(t.Context()), ended)
	}
	o.Events = o
	o.expect("after failures", asked, "[2]")
	batches := o.batches(asked)
	o.expectEvents(batches[1].ID)
}

type sender func(m event.Message) error

// Send implements event.Sender.
func (f sender) Send(_ context.Context, m event.Message) error { return f(m) }

// A list that is new, and one that is the tenant's own, are screened as a whole; a list that is not active is not.
func TestNewLists(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.update(catalogtest.Person("1", "Someone Known"))
	o.screen("journey", asked)
	o.must(o.Run(t.Context()))
	o.lists.Import(t, tenant, "own", catalogtest.Person("1", asked))
	o.lists.Import(t, "another", "foreign", catalogtest.Person("1", asked))
	settings := screening.Settings{ActiveLists: []string{"un"}}
	o.must(o.store.SaveSettings(t.Context(), tenant, screening.Settings{}, settings))
	o.expect("not active", asked, "")
	settings.ActiveLists = []string{"un", "own"}
	o.must(o.store.SaveSettings(t.Context(), tenant, screening.Settings{Version: 1}, settings))
	o.now = o.now.Add(time.Hour)
	o.lists.Import(t, tenant, "own", catalogtest.Person("1", asked), catalogtest.Person("2", "Boris Testov"))
	o.expect("active", asked, "[own:1]")
}
