package execution

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"sluice/shared/kit/deadline"
	"sluice/shared/screening"
)

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
