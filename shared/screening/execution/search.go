package execution

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/shared/kit/deadline"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/lookup"
)

// entitiesAtOnce is how many entities of a batch one step of the built-in provider searches for.
const entitiesAtOnce = 25

// Search is the step of the built-in provider: it searches the pinned lists for some of the entities of a batch.
type Search struct {
	Store screening.Store
	Lists interface {
		// Open opens a version as catalog.Loader does.
		Open(ctx context.Context, ref catalog.VersionRef) (catalog.Loaded, error)
	}
	// MaxMatches is how many matches an entity may have.
	MaxMatches int
	Now        func() time.Time
	Log        *slog.Logger
}

// SearchInput is the input of Search.
type SearchInput struct {
	Input
	Progress Progress `json:"progress"`
}

// Progress is how far the search of a batch is.
type Progress struct {
	// Next is the place of the next entity in the batch.
	Next int `json:"next"`
	// Matches is how many matches those before it have.
	Matches int `json:"matches"`
	// Done means that the search has ended.
	Done bool `json:"done"`
}

// Handle searches for the next entities of a batch and, after the last ones, ends the search. It may be repeated and
// run at the same time as itself: the pinned lists give the same matches under the same IDs again.
func (s *Search) Handle(ctx context.Context, in SearchInput) (Progress, error) {
	ctx, cancel := deadline.Shorten(ctx, margin)
	defer cancel()
	out, err := s.handle(ctx, in)
	if err != nil {
		s.Log.ErrorContext(ctx, "screening step failed", "batch", in.BatchID, "error", err)
		return Progress{}, &Transient{"the step did not finish; its log has the cause"}
	}
	return out, nil
}

func (s *Search) handle(ctx context.Context, in SearchInput) (Progress, error) {
	done := Progress{in.Progress.Next, in.Progress.Matches, true}
	b, err := s.Store.Get(ctx, in.Tenant, in.BatchID)
	if err != nil {
		return Progress{}, err
	}
	p, isHere := b.Provider(screening.BuiltIn)
	if !isHere || p.IsFinished() || p.Run != in.Run || b.Status != screening.Open {
		return done, nil
	}
	answer := screening.Answer{ID: answerID(p, ""), ProviderID: p.ID, Run: in.Run, Matches: in.Progress.Matches}
	next := min(in.Progress.Next+entitiesAtOnce, len(b.EntityIDs))
	found, problem, err := s.search(ctx, b, b.EntityIDs[min(in.Progress.Next, next):next])
	if err != nil {
		return Progress{}, err
	}
	matches := make([]screening.Match, len(found))
	for i, m := range found {
		matches[i] = newMatch(b, answer, m)
	}
	if err := s.Store.AddMatches(ctx, b.Tenant, matches); err != nil {
		return Progress{}, err
	}
	answer.Matches += len(matches)
	if answer.Error = problem; problem == nil && next < len(b.EntityIDs) {
		return Progress{next, answer.Matches, false}, nil
	}
	return done, finishCurrent(ctx, s.Store, in.Tenant, in.BatchID, answer)
}

// search returns the matches of entities of a batch, or the reason why the search fails.
func (s *Search) search(ctx context.Context, b screening.Batch, ids []string) ([]screening.Match,
	*screening.ProviderError, error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	lists := make([]catalog.Loaded, len(b.Lists))
	for i, l := range b.Lists {
		var err error
		lists[i], err = s.Lists.Open(ctx, catalog.VersionRef{Owner: l.Owner, List: l.List, Version: l.Version})
		if err != nil {
			return nil, nil, fmt.Errorf("open a pinned list: %w", err)
		}
	}
	entities, err := s.Store.GetEntities(ctx, b.Tenant, b.ID, ids)
	if err != nil {
		return nil, nil, err
	}
	screener, now := catalog.NewScreener(lists...), s.Now()
	var matches []screening.Match
	for _, e := range entities {
		found, err := lookup.Find(screener, lookup.Questions(e.Criteria, e.Aliases), b.Threshold)
		if err != nil {
			return nil, nil, err
		}
		if len(found) > s.MaxMatches {
			return nil, tooManyMatches(e, len(found), s.MaxMatches), nil
		}
		for _, m := range found {
			matches = append(matches, screening.Match{EntityID: e.ID, AliasIDs: m.AliasIDs,
				UniqueID: lookup.UniqueID(m.Found), Data: lookup.DataOf(m.Found, now)})
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return matches, nil, nil
}

func tooManyMatches(e screening.Entity, found, limit int) *screening.ProviderError {
	return &screening.ProviderError{Source: screening.SourceInvoker, Code: screening.CodeNotSpecified,
		Message: fmt.Sprintf("The entity %.100q has %d matches, more than the %d that a search may have. Add facts "+
			"such as the date of birth and the nationality, or raise the threshold, and open a new batch.",
			e.ID, found, limit)}
}

// finishCurrent ends the search of a provider of the stored batch, unless it has ended otherwise.
func finishCurrent(ctx context.Context, store screening.Store, tenant, batchID string, a screening.Answer) error {
	for range maxAttempts {
		b, err := store.Get(ctx, tenant, batchID)
		if err != nil {
			return err
		}
		err = finish(ctx, store, b, a)
		if errors.Is(err, screening.ErrNotOpen) || errors.Is(err, screening.ErrNotFound) {
			return nil
		}
		if !errors.Is(err, screening.ErrChanged) {
			return err
		}
	}
	return screening.ErrChanged
}

// Ask is the step that asks a provider with an adapter. Its state goes on when its task token is completed, which
// recording the answer does.
type Ask struct {
	Store    screening.Store
	Adapters Adapters
	Tasks    Tasks
	// Patience is how long a provider may take to answer.
	Patience time.Duration
	Now      func() time.Time
	Log      *slog.Logger
}

// AskInput is the input of Ask.
type AskInput struct {
	Input
	ProviderID string `json:"provider"`
	// Token is the task token of the state.
	Token string `json:"token"`
}

// Unreachable asks the state machine to ask the provider again later, and a few times only. Its message is for clients.
type Unreachable struct{ Message string }

// Error implements error.
func (e *Unreachable) Error() string { return e.Message }

// Handle asks a provider, unless it was asked in this run, and leaves the token for the answer. If nothing is to be
// waited for, it completes the task itself. It may be repeated with the same token and with others: the last one
// counts.
func (a *Ask) Handle(ctx context.Context, in AskInput) error {
	ctx, cancel := deadline.Shorten(ctx, margin)
	defer cancel()
	err := a.handle(ctx, in)
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return &Unreachable{refusal.Message}
	case err != nil:
		a.Log.ErrorContext(ctx, "screening step failed", "batch", in.BatchID, "provider", in.ProviderID, "error", err)
		return &Transient{"the step did not finish; its log has the cause"}
	}
	return nil
}

func (a *Ask) handle(ctx context.Context, in AskInput) error {
	search, err := a.Store.GetSearch(ctx, in.Tenant, in.BatchID, in.ProviderID)
	switch {
	case errors.Is(err, screening.ErrNotFound) || err == nil && search.Run != in.Run:
		search = screening.Search{BatchID: in.BatchID, ProviderID: in.ProviderID, Run: in.Run}
	case err != nil:
		return err
	}
	// The token is stored before the batch is read: an end of the search after that finds the token.
	search.Token = in.Token
	if err := a.Store.SaveSearch(ctx, in.Tenant, search); err != nil && !errors.Is(err, screening.ErrChanged) {
		return err
	}
	b, err := a.Store.Get(ctx, in.Tenant, in.BatchID)
	if err != nil {
		return err
	}
	p, isHere := b.Provider(in.ProviderID)
	if !isHere || p.IsFinished() || p.Run != in.Run || b.Status != screening.Open {
		return a.Tasks.Complete(ctx, in.Token)
	}
	if search.AskedAt.IsZero() {
		return a.ask(ctx, b, p, search)
	}
	if a.Now().Before(search.AskedAt.Add(a.Patience)) {
		return nil // an earlier attempt has asked
	}
	return a.end(ctx, b, p, in.Token, &screening.ProviderError{Source: screening.SourceAdapter,
		Code: screening.CodeNotSpecified, Message: messageNoAnswer})
}

// ask sends the question to the adapter of a provider.
func (a *Ask) ask(ctx context.Context, b screening.Batch, p screening.ProviderRun, search screening.Search) error {
	entities, err := a.Store.GetEntities(ctx, b.Tenant, b.ID, b.EntityIDs)
	if err != nil {
		return err
	}
	err = a.Adapters.Screen(ctx, b, p, entities)
	var refusal *Refusal
	if errors.As(err, &refusal) && !refusal.MayPass {
		return a.end(ctx, b, p, search.Token, &refusal.ProviderError)
	}
	if err != nil {
		return err
	}
	search.AskedAt = a.Now().UTC()
	if err := a.Store.SaveSearch(ctx, b.Tenant, search); err != nil && !errors.Is(err, screening.ErrChanged) {
		return err
	}
	return nil
}

// end ends the search of a provider as failed, and the task.
func (a *Ask) end(ctx context.Context, b screening.Batch, p screening.ProviderRun, token string,
	reason *screening.ProviderError) error {
	err := finishCurrent(ctx, a.Store, b.Tenant, b.ID,
		screening.Answer{ID: answerID(p, "failure"), ProviderID: p.ID, Run: p.Run, Error: reason})
	if err != nil {
		return err
	}
	return a.Tasks.Complete(ctx, token)
}
