package rescreening

import (
	"context"
	"encoding/json"
	"time"

	"sluice/shared/connect/event"
	"sluice/shared/screening/catalog"
)

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
