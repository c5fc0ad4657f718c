package screeninghttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/lookup"
)

// Names answers the route that screens a single name.
type Names struct {
	Settings interface {
		GetSettings(ctx context.Context, tenant string) (screening.Settings, error)
	}
	Providers providerGetter
	Lists     currentLists
	Now       func() time.Time
}

// currentLists loads the watchlists of tenants.
type currentLists interface {
	// Current loads lists as catalog.Loader does.
	Current(ctx context.Context, tenant string, lists []string) ([]catalog.Loaded, error)
}

// Routes returns the route that screens a single name.
func (s *Names) Routes() []httpapi.Route {
	return []httpapi.Route{{Method: http.MethodPost, Path: queriesPath + "/match-name",
		Limit: ratelimit.Platform, Permissions: []string{permission.ScreeningAccess}, Query: httpapi.NoQuery,
		Endpoint: platform.Endpoint(s.matchName, platform.ReadOnly(), platform.HideAttemptedValues())}}
}

// maxHits is the largest number of hits of a reply. Large ones may be fewer.
const maxHits = 100

var (
	errNoWatchLists = fault.New(fault.BadRequest, "no_watch_lists",
		"No watchlist was imported that could be searched. Import one first.")
	errListsUnavailable = fault.New(fault.Unavailable, "watch_lists_unavailable",
		"The watchlists cannot be loaded now. Try again.")
)

// NameRequest asks which entries of watchlists a name may be.
type NameRequest struct {
	SearchCriteria *screening.SearchCriteria `json:"searchCriteria"`
	// Lists and Threshold are as the built-in provider has them if they are absent.
	Lists     []string `json:"lists"`
	Threshold *float64 `json:"threshold"`
}

// Check validates the data.
func (in *NameRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue("searchCriteria", in.SearchCriteria != nil)
	if in.SearchCriteria != nil {
		checkCriteria(v, "searchCriteria", *in.SearchCriteria)
	}
	checkLists(v, "lists", in.Lists)
	checkThreshold(v, in.Threshold)
}

// matchName returns the hits of a name in watchlists, best first, as the built-in provider finds them with its default
// set. Nothing is stored, and the name is not logged.
func (s *Names) matchName(ctx context.Context, r *platform.Request, in NameRequest) (
	platform.WithWarnings[[]screening.MatchData], error) {
	reply := platform.WithWarnings[[]screening.MatchData]{Data: []screening.MatchData{}}
	search, err := s.searchOf(ctx, r.Tenant, in)
	if err != nil {
		return reply, err
	}
	lists, err := s.load(ctx, r, search.Lists, in.Lists)
	if err != nil {
		return reply, err
	}
	for _, l := range lists {
		if l.Problem != "" {
			reply.Messages = append(reply.Messages, platform.Warning("watch_list_outdated", fmt.Sprintf(
				"The list %s: %s, so that an earlier one is searched.", l.List, l.Problem)))
		}
	}
	found, err := lookup.Find(catalog.NewScreener(lists...), lookup.Questions(*in.SearchCriteria, nil),
		search.Threshold)
	if err != nil {
		return reply, err
	}
	now, budget := s.Now(), httpapi.ListBudget
	for _, m := range found[:min(len(found), maxHits)] {
		data := lookup.DataOf(m.Found, now).WithLists()
		if budget.Reserve(data, errFull) != nil {
			break
		}
		reply.Data = append(reply.Data, data)
	}
	if len(reply.Data) < len(found) {
		reply.Messages = append(reply.Messages, platform.Warning("more_hits", fmt.Sprintf(
			"The best %d of %d hits are returned. Raise the threshold, or add facts such as the date of birth.",
			len(reply.Data), len(found))))
	}
	return reply, nil
}

// errFull means that a reply is full.
var errFull = errors.New("the reply is full")

// searchOf returns the lists to search and the threshold.
func (s *Names) searchOf(ctx context.Context, tenant string, in NameRequest) (screening.BuiltInSearch, error) {
	settings, err := s.Settings.GetSettings(ctx, tenant)
	if err != nil {
		return screening.BuiltInSearch{}, err
	}
	builtIn, err := s.Providers.GetProvider(ctx, tenant, screening.BuiltIn)
	if err != nil {
		return screening.BuiltInSearch{}, err
	}
	set, _ := builtIn.FindSet("")
	search := settings.Search(set)
	if len(in.Lists) > 0 {
		search.Lists = in.Lists
	}
	if in.Threshold != nil {
		search.Threshold = *in.Threshold
	}
	return search, nil
}

// load loads the named lists, or all without names. asked are the names in the request, empty if the names come from
// the configuration.
func (s *Names) load(ctx context.Context, r *platform.Request, names, asked []string) ([]catalog.Loaded, error) {
	lists, err := s.Lists.Current(ctx, r.Tenant, names)
	var unknown *catalog.UnknownListError
	switch {
	case errors.As(err, &unknown):
		if i := slices.Index(asked, unknown.List); i >= 0 {
			return nil, r.Invalid(fmt.Sprintf("lists.%d", i), unknown.Error(), CodeList)
		}
		return nil, r.Invalid("lists", unknown.Error()+" The configuration names it, because the request names none. "+
			"Import it, change the configuration, or name lists.", CodeList)
	case errors.Is(err, catalog.ErrNoLists):
		return nil, errNoWatchLists
	case err != nil && ctx.Err() == nil:
		return nil, errListsUnavailable.WithCause(err)
	}
	return lists, err
}
