package execution

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"sluice/shared/connect/outbound"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// Outcome is the outcome of an answer.
type Outcome string

// The outcomes of answers.
const (
	// Recorded answers have ended the search of their provider.
	Recorded Outcome = "recorded"
	// Repeated answers are recorded already.
	Repeated Outcome = "repeated"
	// Late answers came after the search had ended otherwise, or after its batch had.
	Late Outcome = "late"
	// Unknown answers name a batch that the tenant does not have, or a provider that it was not searched by.
	Unknown Outcome = "unknown"
)

// Answer is the answer of a provider to the question about a batch.
type Answer struct {
	// ID identifies the answer among its provider's: a repeated answer has the same ID.
	ID string
	// Matches need EntityID, AliasIDs, UniqueID and Data; Record sets the rest.
	Matches []screening.Match
	// Error is the reason why the provider has failed; nil if it has not.
	Error *screening.ProviderError
}

// Answers records the answers of providers. It is safe for concurrent use.
type Answers struct {
	Store screening.Store
	// Tasks wakes executions that wait for an answer.
	Tasks Tasks
	// MaxMatches is how many matches of an entity an answer may have; 0 means screening.MaxMatches.
	MaxMatches int
	Log        *slog.Logger
}

// Tasks completes tasks of executions.
type Tasks interface {
	// Complete completes the task of a token. A token that nobody waits for any more is success.
	Complete(ctx context.Context, token string) error
}

// maxAttempts is the number of attempts at a change that others overtake.
const maxAttempts = 16

// Record records the answer of a provider about a batch, and lets the execution that waits for it go on. It may be
// repeated, and called at the same time with the same answer and with others: the first answer counts, and an answer
// that is recorded stays recorded. Matches that do not fit the batch end the search with the error E002.
func (a *Answers) Record(ctx context.Context, tenant, batchID, providerID string, answer Answer) (Outcome, error) {
	outcome, run, err := a.record(ctx, tenant, batchID, providerID, answer)
	if err != nil {
		return "", err
	}
	if outcome == Late || outcome == Unknown {
		a.Log.WarnContext(ctx, "an answer of a screening provider was ignored", "tenant", tenant, "batch", batchID,
			"provider", providerID, "outcome", outcome)
		return outcome, nil
	}
	return outcome, a.wake(ctx, tenant, batchID, providerID, run)
}

// record is Record without waking the execution. It returns the run that the answer belongs to as well.
func (a *Answers) record(ctx context.Context, tenant, batchID, providerID string, answer Answer) (Outcome, int, error) {
	stored := -1 // the run whose matches are stored
	for range maxAttempts {
		b, err := a.Store.Get(ctx, tenant, batchID)
		if errors.Is(err, screening.ErrNotFound) {
			return Unknown, 0, nil
		}
		if err != nil {
			return "", 0, err
		}
		p, ok := b.Provider(providerID)
		if !ok || providerID == screening.BuiltIn {
			return Unknown, 0, nil
		}
		record := screening.Answer{ID: answerID(p, answer.ID), ProviderID: p.ID, Matches: len(answer.Matches),
			Error: answer.Error}
		switch {
		case p.IsFinished() && p.AnswerID == record.ID:
			return Repeated, p.Run, nil
		case p.IsFinished() || b.Status != screening.Open:
			return Late, p.Run, nil
		}
		if record.Error == nil {
			record.Error = a.check(b, answer)
		}
		if record.Error == nil && stored != p.Run {
			if record.Error, err = a.storeMatches(ctx, b, record, answer.Matches); err != nil {
				return "", 0, err
			}
			stored = p.Run
		}
		err = finish(ctx, a.Store, b, record)
		if !errors.Is(err, screening.ErrChanged) {
			return Recorded, p.Run, err
		}
	}
	return "", 0, screening.ErrChanged
}

// answerID returns the ID of an answer of a provider in its present run, which no other provider or run has.
func answerID(p screening.ProviderRun, id string) string {
	return fmt.Sprintf("%s/%d/%s", p.ID, p.Run, id)
}

// finish ends the search of a provider. It returns ErrChanged if someone else has changed the batch.
func finish(ctx context.Context, store screening.Store, b screening.Batch, a screening.Answer) error {
	after, isFirst, err := b.FinishProvider(a)
	if err != nil || !isFirst {
		return err
	}
	return store.Save(ctx, after)
}

// check returns the error of the matches of an answer, nil if they are valid.
func (a *Answers) check(b screening.Batch, answer Answer) *screening.ProviderError {
	limit, counts, ids := a.MaxMatches, map[string]int{}, map[string]bool{}
	if limit == 0 {
		limit = screening.MaxMatches
	}
	for _, m := range answer.Matches {
		if !b.HasEntity(m.EntityID) {
			return invalidAnswer("The answer has a match of the entity %.100q, which the batch does not have.",
				m.EntityID)
		}
		id := screening.NewMatchID("", m.EntityID, m.UniqueID)
		if ids[id] {
			return invalidAnswer("The answer has two matches of the entity %.100q with %.100q.", m.EntityID, m.UniqueID)
		}
		ids[id] = true
		if counts[m.EntityID]++; counts[m.EntityID] > limit {
			return invalidAnswer("The answer has more than %d matches of the entity %.100q.", limit, m.EntityID)
		}
	}
	return nil
}

func invalidAnswer(format string, args ...any) *screening.ProviderError {
	return adapter.InvalidResponse(fmt.Sprintf(format, args...))
}

// storeMatches stores the matches of an answer, or returns why they cannot be. They do not belong to the batch before
// the answer is recorded.
func (a *Answers) storeMatches(ctx context.Context, b screening.Batch, record screening.Answer,
	matches []screening.Match) (*screening.ProviderError, error) {
	complete := make([]screening.Match, len(matches))
	for i, m := range matches {
		complete[i] = newMatch(b, record, m)
	}
	err := a.Store.AddMatches(ctx, b.Tenant, complete)
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.TooLarge {
		return invalidAnswer("%s", f.Message), nil
	}
	return nil, err
}

// newMatch returns a match of an answer that nobody has resolved.
func newMatch(b screening.Batch, record screening.Answer, m screening.Match) screening.Match {
	m.ID, m.BatchID, m.AnswerID = screening.NewMatchID(record.ID, m.EntityID, m.UniqueID), b.ID, record.ID
	m.Data.ProviderID = record.ProviderID
	m.Resolution = screening.Resolution{Status: screening.Unresolved}
	m.Version = 1
	return m
}

// wake completes the task that waits for the answer of a provider. If nobody does so, the task ends by its timeout,
// which finds the search ended.
func (a *Answers) wake(ctx context.Context, tenant, batchID, providerID string, run int) error {
	search, err := a.Store.GetSearch(ctx, tenant, batchID, providerID)
	if errors.Is(err, screening.ErrNotFound) || err == nil && (search.Run != run || search.Token == "") {
		return nil
	}
	if err != nil {
		return err
	}
	return a.Tasks.Complete(ctx, search.Token)
}

// AdapterCalls calls the adapters of providers, by the one way out. It is safe for concurrent use.
type AdapterCalls struct {
	// Providers reads the providers of tenants with their keys. It is a part of screening.ProviderStore.
	Providers interface {
		GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error)
		Reveal(ctx context.Context, p screening.Provider) (screening.Provider, error)
	}
	// Receivers calls the receivers of a tenant.
	Receivers interface {
		Do(ctx context.Context, tenant string, r *http.Request) (*outbound.Reply, error)
	}
}

var _ Adapters = (*AdapterCalls)(nil)

// Screen implements Adapters.
func (c *AdapterCalls) Screen(ctx context.Context, b screening.Batch, run screening.ProviderRun,
	entities []screening.Entity) error {
	p, err := c.find(ctx, b.Tenant, run.ID)
	if err != nil {
		return err
	}
	set, ok := p.FindSet(run.ConfigurationSetID)
	if !ok {
		return misconfigured(errors.New("it does not have the configuration set any more"))
	}
	return c.call(ctx, p, adapter.Screen, b.ID, adapter.NewScreenData(b, set, entities))
}

// ResolveMatches sends resolutions of matches to the adapter of their provider. It returns nil once the adapter has
// accepted them, a *Refusal if it has not, and any other error if the service itself is at fault.
func (c *AdapterCalls) ResolveMatches(ctx context.Context, tenant, batchID, providerID string,
	matches []screening.Match) error {
	p, err := c.find(ctx, tenant, providerID)
	if err != nil {
		return err
	}
	data := adapter.ResolveData{BatchID: batchID}
	for _, m := range matches {
		data.Matches = append(data.Matches, adapter.NewResolvedMatch(m))
	}
	return c.call(ctx, p, adapter.ResolveMatches, batchID, data)
}

// find returns a provider with its keys.
func (c *AdapterCalls) find(ctx context.Context, tenant, id string) (screening.Provider, error) {
	p, err := c.Providers.GetProvider(ctx, tenant, id)
	if errors.Is(err, screening.ErrNotFound) {
		return p, misconfigured(errors.New("it is not configured any more"))
	}
	if err != nil {
		return p, err
	}
	return c.Providers.Reveal(ctx, p)
}

func (c *AdapterCalls) call(ctx context.Context, p screening.Provider, t adapter.Type, batchID string, data any) error {
	r, err := adapter.NewRequest(ctx, p, t, batchID, data)
	if err != nil {
		return misconfigured(err)
	}
	reply, err := c.Receivers.Do(ctx, p.Tenant, r)
	var failed *outbound.Error
	switch {
	case errors.As(err, &failed):
		return &Refusal{*adapter.FailedCall(failed.Message), mayPass(failed.Reason)}
	case err != nil:
		return err
	case reply.Status >= 200 && reply.Status < 300:
		return nil
	case reply.Status == http.StatusBadRequest:
		return &Refusal{ProviderError: *adapter.RejectedByAdapter()}
	}
	isBusy := reply.Status >= 500 || reply.Status == http.StatusTooManyRequests ||
		reply.Status == http.StatusRequestTimeout
	return &Refusal{*adapter.FailedCall(fmt.Sprintf("The adapter answered %d.", reply.Status)), isBusy}
}

// mayPass reports whether a call that failed for a reason may succeed later as it is.
func mayPass(r outbound.Reason) bool {
	switch r {
	case outbound.URLRefused, outbound.AddressRefused, outbound.CertificateRefused, outbound.ClientCertificateUnusable,
		outbound.ClientCertificateRefused:
		return false
	}
	return true
}

// misconfigured returns the refusal of a provider that cannot be called.
func misconfigured(cause error) error {
	return &Refusal{ProviderError: *adapter.FailedCall("The provider cannot be called: " + cause.Error() + ".")}
}

// Receptor records the answers that the receptor has received.
type Receptor struct{ *Answers }

// Record records an answer and returns the outcome.
func (r Receptor) Record(ctx context.Context, tenant, batchID, providerID, answerID string, matches []screening.Match,
	failure *screening.ProviderError) (outcome string, err error) {
	o, err := r.Answers.Record(ctx, tenant, batchID, providerID, Answer{answerID, matches, failure})
	return string(o), err
}
