package screening_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
)

// Readers get empty lists and never null in their place, at any depth.
func TestWithLists(t *testing.T) {
	t.Parallel()
	d := screening.MatchData{CategoryDetails: []screening.CategoryTable{
		{Kind: "a"}, {Kind: "b", Rows: []screening.CategoryRow{{SubRows: []screening.CategoryRow{{}}}}}}}
	text := errtest.Must(json.Marshal(d.WithLists()))(t)
	for _, key := range []string{"categoryDetails", "rows", "fields", "subRows", "aliasesList", "idsList",
		"additionalInfo"} {
		if !strings.Contains(string(text), `"`+key+`":[`) || strings.Contains(string(text), `"`+key+`":null`) {
			t.Errorf("%s is not a list in %s", key, text)
		}
	}
	if d.CategoryDetails[0].Rows != nil || d.CategoryDetails[1].Rows[0].Fields != nil {
		t.Error("the data itself has changed")
	}
}

func TestEntityOverLimit(t *testing.T) {
	t.Parallel()
	var matches []screening.Match
	for range screening.MaxMatches {
		matches = append(matches, screening.Match{EntityID: "a"}, screening.Match{EntityID: "b"})
	}
	if id, found := screening.EntityOverLimit(matches); found {
		t.Errorf("%d matches of each entity: got %q, want none over the limit", screening.MaxMatches, id)
	}
	if id, found := screening.EntityOverLimit(append(matches, screening.Match{EntityID: "b"})); !found || id != "b" {
		t.Errorf("one more of b: got %q, %v", id, found)
	}
}
