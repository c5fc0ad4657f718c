// Package screening holds screening batches: the entities that are checked against watchlists, the matches that
// providers return, how people resolve them, and what follows from that for the entity. Package screening/screeningdb
// stores them, screening/screeninghttp serves them.
package screening

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// Status is the state of a batch.
type Status string

// A batch begins open. It ends closed, when everything is resolved, and a newer batch of the same journey and process
// overrides it, whether it is closed or not.
const (
	Open       Status = "Open"
	Closed     Status = "Closed"
	Overridden Status = "Overridden"
)

// ProviderStatus is how far a provider has come with a batch.
type ProviderStatus string

// The statuses of a provider. All but SearchInProgress are final.
const (
	SearchInProgress ProviderStatus = "Search In Progress"
	SearchComplete   ProviderStatus = "Search Complete"
	ReturnFailed     ProviderStatus = "Return Failed"
)

// TypeScreening is the type of a batch that a client creates.
const TypeScreening = "Screening"

// TypeRescreening is the type of a batch of new matches after a change of a watchlist.
const TypeRescreening = "OngoingScreening"

// Limits of one batch. They keep every part of it within an item of DynamoDB, and its resolution within a transaction.
const (
	// MaxEntities is the largest number of entities of a batch.
	MaxEntities = 500
	// MaxAliases is the largest number of aliases of an entity.
	MaxAliases = 100
	// MaxAddresses is the largest number of addresses of an entity.
	MaxAddresses = 20
	// MaxRelatedParties is the largest number of parties with materiality properties of an entity.
	MaxRelatedParties = 50
	// MaxProviders is the largest number of providers of a batch.
	MaxProviders = 10
	// MaxMatches is the largest number of matches of an entity in one answer of a provider.
	MaxMatches = 1000
	// MaxMatchBytes is the size of the largest match as JSON, without its aliases and its resolution.
	MaxMatchBytes = 32 << 10
	// MaxResolutionBytes is the size of the largest resolution as JSON.
	MaxResolutionBytes = 16 << 10
	// MaxResolvedAtOnce is the largest number of matches that are resolved together or not at all.
	MaxResolvedAtOnce = 50
)

var (
	// ErrNotFound means that the tenant has no such batch, entity or match.
	ErrNotFound = errors.New("screening: not found")
	// ErrChanged means that someone else has written the batch, entity or match since it was read.
	ErrChanged = errors.New("screening: changed since it was read")
	// ErrExists means that the document is stored already.
	ErrExists = errors.New("screening: exists already")
	// ErrTooManyDocuments means that the entity has MaxDocuments in the batch already.
	ErrTooManyDocuments = errors.New("screening: too many documents")
	// ErrNotOpen means that the batch is closed or overridden.
	ErrNotOpen = errors.New("screening: the batch is not open")
	// ErrUnfinished means that a provider of the batch is still searching.
	ErrUnfinished = errors.New("screening: a provider is still searching")
	// ErrUnresolved means that the batch has matches that nobody has resolved.
	ErrUnresolved = errors.New("screening: matches are unresolved")
)

// Batch is a group of entities that are screened together. Storage keeps its JSON form.
type Batch struct {
	ID     string `json:"id"`
	Tenant string `json:"tenant"`
	Status Status `json:"status"`
	// Type is TypeScreening or TypeRescreening.
	Type string `json:"type"`
	// JourneyID and ProcessID select the batches that replace each other; either may be "".
	JourneyID string `json:"journeyId"`
	ProcessID string `json:"processId"`
	// JourneyType, MainEntityID and MainEntityName describe the journey; "" if its creator did not give them.
	JourneyType    string `json:"journeyType"`
	MainEntityID   string `json:"mainEntityId"`
	MainEntityName string `json:"mainEntityName"`
	// Providers are those that search, in the order of their IDs.
	Providers []ProviderRun `json:"providers"`
	// EntityIDs are the entities of the batch, in the order of the request.
	EntityIDs []string `json:"entityIds"`
	// OverriddenIDs are the batches that this one replaced.
	OverriddenIDs []string  `json:"overriddenIds"`
	CreatedAt     time.Time `json:"createdAt"`
	CreatedBy     string    `json:"createdBy"`
	// ClosedAt is zero unless the batch was closed.
	ClosedAt time.Time `json:"closedAt"`
	// CorrelationID comes from the request that created the batch; "" if it had none.
	CorrelationID string `json:"correlationId"`
	// Lists are the versions of watchlists that the built-in provider searches. They are pinned: a search that is
	// repeated finds the same, independently of later imports.
	Lists []ListVersion `json:"lists,omitempty"`
	// Threshold is the least score of a match of the built-in provider. It is pinned, too.
	Threshold float64 `json:"threshold,omitempty"`
	// Runs is the number of runs that were begun: 1 for a new batch, 0 for one without searches. StartedAt is when the
	// last one was.
	Runs      int       `json:"runs,omitempty"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	// Matches, Unresolved and TrueMatches count matches: all of them, those in the status Unresolved and those in the
	// status Match.
	Matches     int `json:"matches"`
	Unresolved  int `json:"unresolved"`
	TrueMatches int `json:"trueMatches"`
	// Resolvers counts matches by the ID of the client that acted on them last.
	Resolvers map[string]int `json:"resolvers,omitempty"`
	// Version is 1 for a new batch and grows by one with every change. Writes are conditional on it.
	Version int64 `json:"version"`
}

// ProviderRun is the search of one provider for one batch.
type ProviderRun struct {
	ID     string         `json:"id"`
	Status ProviderStatus `json:"status"`
	// ConfigurationSetID is the set of settings of the search; "" for the default set of a provider that has none, and
	// in batches of earlier releases.
	ConfigurationSetID string `json:"configurationSetId"`
	// Error is the reason why the search failed; nil unless Status is ReturnFailed.
	Error *ProviderError `json:"error"`
	// Matches is how many matches it returned.
	Matches int `json:"matches"`
	// AnswerID is the ID of the answer that ended the search; only the matches of that answer belong to the batch. It
	// is "" for a search that is under way.
	AnswerID string `json:"answerId"`
	// Run is the run of the provider's present or last search.
	Run int `json:"run,omitempty"`
}

// IsFinished reports whether the provider searches no longer.
func (p ProviderRun) IsFinished() bool { return p.Status != SearchInProgress }

// Close returns the batch closed. It returns ErrNotOpen, ErrUnfinished or ErrUnresolved if it cannot be.
func (b Batch) Close(at time.Time) (Batch, error) {
	switch {
	case b.Status != Open:
		return b, ErrNotOpen
	case slices.ContainsFunc(b.Providers, func(p ProviderRun) bool { return !p.IsFinished() }):
		return b, ErrUnfinished
	case b.Unresolved > 0:
		return b, ErrUnresolved
	}
	b.Status, b.ClosedAt = Closed, at
	b.Version++
	return b, nil
}

// Override returns the batch replaced by a newer one. A batch that was closed keeps the time of that. Searches that are
// under way have failed: nobody waits for them any more.
func (b Batch) Override() Batch {
	b.Status = Overridden
	b.Providers = slices.Clone(b.Providers)
	for i := range b.Providers {
		if p := &b.Providers[i]; !p.IsFinished() {
			p.Status, p.Error = ReturnFailed, errOverridden
		}
	}
	b.Version++
	return b
}

// Answer is how a provider ended its search.
type Answer struct {
	// ID tells answers of one provider apart. An answer that comes again has the same ID.
	ID         string
	ProviderID string
	// Run is the run that it answers; 0 stands for the present one.
	Run int
	// Matches is how many matches it has; they are stored already.
	Matches int
	// Error is the reason why the search failed; nil if it did not.
	Error *ProviderError
}

// FinishProvider returns the batch after a provider has ended its search: with the matches of its answer, which are
// unresolved, or with the reason why it failed. It returns ErrNotFound if the batch does not have the provider,
// ErrNotOpen for a batch that is not open, and the batch as it is with false if the provider has ended already, or
// searches in another run: an answer that comes twice counts once, and the first of several answers is the one that
// counts.
func (b Batch) FinishProvider(a Answer) (after Batch, isFirst bool, err error) {
	i := slices.IndexFunc(b.Providers, func(p ProviderRun) bool { return p.ID == a.ProviderID })
	switch {
	case i < 0:
		return b, false, ErrNotFound
	case b.Providers[i].IsFinished() || a.Run != 0 && a.Run != b.Providers[i].Run:
		return b, false, nil
	case b.Status != Open:
		return b, false, ErrNotOpen
	}
	b.Providers = slices.Clone(b.Providers)
	p := &b.Providers[i]
	p.Status, p.Error, p.Matches, p.AnswerID = SearchComplete, a.Error, a.Matches, a.ID
	if a.Error != nil {
		p.Status, p.Matches = ReturnFailed, 0
	}
	b.Matches += p.Matches
	b.Unresolved += p.Matches
	b.Version++
	return b, true, nil
}

// HasAnswer reports whether an answer is the one that ended the search of its provider, so that its matches belong to
// the batch.
func (b Batch) HasAnswer(id string) bool {
	return slices.ContainsFunc(b.Providers, func(p ProviderRun) bool {
		return p.AnswerID == id && p.Status == SearchComplete
	})
}

// Provider returns the search of a provider, false if the batch does not have it.
func (b Batch) Provider(id string) (ProviderRun, bool) {
	i := slices.IndexFunc(b.Providers, func(p ProviderRun) bool { return p.ID == id })
	if i < 0 {
		return ProviderRun{}, false
	}
	return b.Providers[i], true
}

// HasEntity reports whether an entity belongs to the batch.
func (b Batch) HasEntity(id string) bool { return slices.Contains(b.EntityIDs, id) }

// Resolve returns the batch with other counts, and the matches with the resolutions that people gave them, by the IDs
// of the matches: each must have one. It returns ErrNotOpen for a batch that is not open.
func (b Batch) Resolve(matches []Match, resolutions map[string]Resolution) (Batch, []Match, error) {
	if b.Status != Open {
		return b, nil, ErrNotOpen
	}
	resolved := make([]Match, len(matches))
	b.Resolvers = maps.Clone(b.Resolvers)
	count := func(a *MatchAction, by int) {
		if a == nil {
			return
		}
		if b.Resolvers == nil {
			b.Resolvers = map[string]int{}
		}
		if b.Resolvers[a.By] += by; b.Resolvers[a.By] <= 0 {
			delete(b.Resolvers, a.By)
		}
	}
	for i, m := range matches {
		r := resolutions[m.ID]
		count(m.Resolution.Action, -1)
		count(r.Action, 1)
		b.Unresolved += countIf(r.Status == Unresolved) - countIf(m.Resolution.Status == Unresolved)
		b.TrueMatches += countIf(r.Status == TrueMatch) - countIf(m.Resolution.Status == TrueMatch)
		m.Resolution = r
		m.Version++
		resolved[i] = m
	}
	b.Version++
	return b, resolved, nil
}

func countIf(is bool) int {
	if is {
		return 1
	}
	return 0
}
