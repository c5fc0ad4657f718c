// Package rescreening looks again for the entities that tenants have screened when a watchlist changes: among the
// entries that are new or changed, and nowhere else. New matches become a new screening batch, unless people know them
// already.
package rescreening

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/shared/connect/event"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
)

// Round is the rescreening of the batches of a tenant after a change of a list: the present one, and the results of the
// last one.
type Round struct {
	Tenant string `json:"-"`
	// Owner and List name the list.
	Owner string `json:"-"`
	List  string `json:"-"`
	// Done is the version that the last round ended with; "" if there was none. BeganAt is when that round began:
	// batches that were created later may have pinned an older version.
	Done    string    `json:"done"`
	BeganAt time.Time `json:"beganAt"`
	// Next is the version of the round that is under way; "" if none is. NextBeganAt is when it began.
	Next        string    `json:"next"`
	NextBeganAt time.Time `json:"nextBeganAt"`
	// After is how far the round is in the tenant's batches. IsThrough reports that it has come to their end.
	After     string `json:"after"`
	IsThrough bool   `json:"isThrough,omitempty"`
	// Failed are the batches that the round has come to and could not rescreen. It does not end before it has.
	Failed []string `json:"failed,omitempty"`
	// IsAnnounced reports that the round's beginning was announced.
	IsAnnounced bool `json:"isAnnounced"`
	// Names and Matches count the names that the round has screened, and the new matches.
	Names   int `json:"names"`
	Matches int `json:"matches"`
	// Batches are the first of the batches that the round has created, BatchCount is the number of all.
	Batches    []string `json:"batches"`
	BatchCount int      `json:"batchCount"`
	// Revision is 0 if nothing is stored, and grows by one with every change. Writes are conditional on it.
	Revision int64 `json:"-"`
}

// maxNamedBatches is how many new batches an event names.
const maxNamedBatches = 100

// Rounds stores rounds, and lists the tenants and batches that they go through.
type Rounds interface {
	// ListTenants reads a part of the tenants that have screening batches, beginning after a position ("" for the first
	// part). The next position is "" at the end of the list.
	ListTenants(ctx context.Context, after string, limit int) (tenants []string, next string, err error)
	// ListBatches reads a part of the IDs of a tenant's batches, newest first, as ListTenants does.
	ListBatches(ctx context.Context, tenant, after string, limit int) (ids []string, next string, err error)
	// GetRound reads the round of a tenant and a list, one with the revision 0 if nothing is stored.
	GetRound(ctx context.Context, tenant, owner, list string) (Round, error)
	// SaveRound replaces the round whose next revision is r.Revision. It returns screening.ErrChanged if the
	// stored revision is another one.
	SaveRound(ctx context.Context, r Round) error
}

// Batches stores screening batches. It is a part of screening.Store, which documents what repeating its methods does
// and which errors they return.
type Batches interface {
	// Get reads a batch.
	Get(ctx context.Context, tenant, id string) (screening.Batch, error)
	// GetBatches reads the given batches.
	GetBatches(ctx context.Context, tenant string, ids []string) ([]screening.Batch, error)
	// GetEntities reads the given entities of a batch.
	GetEntities(ctx context.Context, tenant, batchID string, ids []string) ([]screening.Entity, error)
	// GetMatches reads the given matches of a batch.
	GetMatches(ctx context.Context, b screening.Batch, refs []screening.MatchRef) ([]screening.Match, error)
	// ListBatchesOf reads a part of the IDs of the batches that have an entity, newest first.
	ListBatchesOf(ctx context.Context, tenant, entityID, after string, limit int) (ids []string, next string, err error)
	// AddMatches adds matches to the entities of batches.
	AddMatches(ctx context.Context, tenant string, matches []screening.Match) error
	// Create stores a new batch.
	Create(ctx context.Context, b screening.Batch, entities []screening.Entity) (screening.Batch, error)
	// GetSettings reads the settings of a tenant.
	GetSettings(ctx context.Context, tenant string) (screening.Settings, error)
}

// Lists reads which versions of lists there are, and pins them.
type Lists interface {
	catalog.Reader
	catalog.Pinner
}

// Rescreening rescreens what tenants have screened when lists change.
type Rescreening struct {
	Rounds  Rounds
	Batches Batches
	Lists   Lists
	Files   catalog.Opener
	// Events announces rescreenings.
	Events event.Sender
	// MaxMatches is how many matches an entity may have in one batch.
	MaxMatches int
	Now        func() time.Time
	Log        *slog.Logger
}

// pageSize is how many tenants or batches are read together; after as many batches a round is saved.
const pageSize = 50

// Run rescreens the batches of all tenants for the lists that have changed. It may be repeated and run at the same time
// as itself: the same round creates the same batches and events. It continues where an earlier run ended, by its
// deadline or by an error; at the deadline it returns nil. After an error about a tenant, a list or a batch it goes on
// with the next one and returns the error at the end. A batch that could not be rescreened is logged and tried again by
// every later run; its round ends once it has succeeded.
func (s *Rescreening) Run(ctx context.Context) error {
	var errs []error
	for after := ""; ; {
		tenants, next, err := s.Rounds.ListTenants(ctx, after, pageSize)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, tenant := range tenants {
			if err := s.rescreenTenant(ctx, tenant); err != nil {
				errs = append(errs, fmt.Errorf("rescreening for the tenant %s: %w", tenant, err))
			}
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil // the next run goes on
			}
		}
		if after = next; after == "" {
			return errors.Join(errs...)
		}
	}
}

// rescreenTenant rescreens the batches of a tenant for each list that has changed.
func (s *Rescreening) rescreenTenant(ctx context.Context, tenant string) error {
	versions, err := catalog.CurrentVersions(ctx, s.Lists, tenant, nil)
	if errors.Is(err, catalog.ErrNoLists) {
		return nil
	}
	if err != nil {
		return err
	}
	settings, err := s.Batches.GetSettings(ctx, tenant)
	if err != nil {
		return err
	}
	var errs []error
	for _, v := range versions {
		round, err := s.Rounds.GetRound(ctx, tenant, v.Owner, v.List)
		if err == nil && (round.Done != v.Version || round.Next != "") {
			r := &run{Rescreening: s, round: round, version: v, settings: settings,
				contents: newContents(s.Files, s.Lists)}
			err = r.finish(ctx)
		}
		if errors.Is(err, screening.ErrChanged) {
			err = nil // another run is rescreening for this list
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("list %s: %w", v.List, err))
		}
	}
	return errors.Join(errs...)
}

// UpdatePayload is the payload of event.WatchlistUpdated.
type UpdatePayload struct {
	List     string `json:"list"`
	IsShared bool   `json:"shared"`
	Version  string `json:"version"`
	// PreviousVersion is null if the list is new to the tenant.
	PreviousVersion *string    `json:"previous_version"`
	SourceDate      *time.Time `json:"source_date"`
	Entries         int        `json:"entries"`
	// Changes are null if the previous version is not known.
	Changes *catalog.Changes `json:"changes"`
}

// EndPayload is the payload of event.RescreeningFinished.
type EndPayload struct {
	List            string  `json:"list"`
	Version         string  `json:"version"`
	PreviousVersion *string `json:"previous_version"`
	NamesScreened   int     `json:"names_screened"`
	NewMatches      int     `json:"new_matches"`
	// Batches are the first new batches, BatchCount is the number of all.
	Batches    []string `json:"batches"`
	BatchCount int      `json:"batch_count"`
}

// announceUpdate announces once in a round that the list has changed. Repeating it sends the same event again, with the
// same ID, if the round could not be saved.
func (r *run) announceUpdate(ctx context.Context) error {
	if r.round.IsAnnounced {
		return nil
	}
	payload := UpdatePayload{List: r.version.List, IsShared: r.version.Owner == catalog.Shared,
		Version: r.version.Version, PreviousVersion: optional(r.round.Done), Entries: r.version.Entries}
	if !r.version.SourceDate.IsZero() {
		payload.SourceDate = &r.version.SourceDate
	}
	if r.round.Done != "" {
		news, err := r.contents.newsSince(ctx, r.round.Done, r.version)
		if err != nil {
			return err
		}
		if !news.isEmpty {
			counts := catalog.CountChanges(news.changes)
			payload.Changes = &counts
		}
	}
	if err := r.announce(ctx, event.WatchlistUpdated, r.round.NextBeganAt, payload); err != nil {
		return err
	}
	r.round.IsAnnounced = true
	return r.save(ctx)
}

// announceEnd announces that the round has ended, if its beginning was announced.
func (r *run) announceEnd(ctx context.Context) error {
	if !r.round.IsAnnounced {
		return nil
	}
	return r.announce(ctx, event.RescreeningFinished, r.Now(), EndPayload{
		List: r.version.List, Version: r.version.Version, PreviousVersion: optional(r.round.Done),
		NamesScreened: r.round.Names, NewMatches: r.round.Matches,
		Batches: append([]string{}, r.round.Batches...), BatchCount: r.round.BatchCount,
	})
}

// announce sends an event about the round. It has the same ID whenever the round is the same.
func (r *run) announce(ctx context.Context, t event.Type, when time.Time, payload any) error {
	text, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	subject := r.round.Tenant + " " + r.version.String() + " " + r.round.NextBeganAt.UTC().Format(time.RFC3339)
	path := "/screeningquery/api/v4/configuration/provider/sluice"
	if t == event.RescreeningFinished && len(r.round.Batches) > 0 {
		path = "/screeningquery/api/v4/batch/" + r.round.Batches[0]
	}
	return r.Events.Send(ctx, event.Message{
		ID: event.NewID(t, subject), Tenant: r.round.Tenant, Type: t, RelativeURL: path, Payload: text,
		When: when.UTC(), CorrelationID: event.NewID(event.WatchlistUpdated, subject), CausationID: r.version.Version,
	})
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
