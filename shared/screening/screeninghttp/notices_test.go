package screeninghttp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sluice/shared/screening"
	"sluice/shared/screening/screeninghttp"
)

// startedNotices records the resolved matches of started notices.
type startedNotices struct {
	err     error
	matches []screening.Match
}

func (n *startedNotices) Start(_ context.Context, _ screening.Batch, resolved []screening.Match) error {
	n.matches = append(n.matches, resolved...)
	return n.err
}

// The notices of adapters are started before resolutions are stored, so that none is lost; without them, nothing is
// stored.
func TestResolutionsAreNoticed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	batch, ids := a.createSearched("e", 2)
	resolve := fmt.Sprintf(`{"data":[{"entityId":"e","matches":[{"matchId":%q,"status":"No Match","reason":"r"}]}]}`,
		ids[0])
	path, match := commands+"/batch/"+batch+"/matches", queries+"/batch/"+batch+"/entity/e/match/"+ids[0]
	a.notices.err = errors.New("broken")
	a.refuse(500, "INTERNAL_SERVER_ERROR", "PUT", path, resolve)
	var m screeninghttp.MatchReply
	if a.succeed("GET", match, "", &m); m.Status != screening.Unresolved {
		t.Errorf("the match is %s, want it as it was", m.Status)
	}
	a.notices.err, a.notices.matches = nil, nil
	a.succeed("PUT", path, resolve, nil)
	if n := a.notices.matches; len(n) != 1 || n[0].ID != ids[0] || n[0].Version != 2 ||
		n[0].Resolution.Status != screening.NoMatch {
		t.Errorf("notices were started for %+v, want the resolved match in its second version", n)
	}
	a.refuse(404, "match_not_found", "PUT", path, fmt.Sprintf(
		`{"data":[{"entityId":"e","matches":[{"matchId":%q,"status":"Match","reason":"r"}]}]}`, batch))
	if len(a.notices.matches) != 1 {
		t.Error("a notice was started for a request that was refused")
	}
}
