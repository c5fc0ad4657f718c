// Package sourcesetup makes the sources of what is found by its ID beside lines: the part ingest, to which package find
// belongs, knows no other parts. It is separate from setup, so that only the function find is linked with it.
package sourcesetup

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sluice/functions/setup"
	"sluice/shared/access"
	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/find"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

// NewSources returns the sources of all kinds of objects. They read TABLE_RECORDS, TABLE_ENTITIES, TABLE_DOCUMENTS,
// TABLE_WEBHOOKS and TABLE_SCREENINGS.
func NewSources(env setup.Env, batches *batchdb.Store) map[find.Kind]find.Source {
	db := env.DynamoDB()
	return map[find.Kind]find.Source{
		find.Batch:     find.BatchSource{Batches: batches},
		find.Entity:    Entities{entitydb.NewProfiles(db, env.RecordsTable, env.EntitiesTable)},
		find.Document:  Documents{documentdb.New(db, env.DocumentsTable)},
		find.Event:     Deliveries{webhookdb.New(db, env.WebhooksTable)},
		find.Screening: Screenings{screeningdb.New(db, env.ScreeningsTable)},
	}
}

// Entities finds entities.
type Entities struct{ Store entity.Store }

// Find implements find.Source.
func (s Entities) Find(ctx context.Context, tenant string, layers access.Layers, id string) ([]find.Item, error) {
	p, status, err := s.Store.GetProfile(ctx, tenant, id)
	if errors.Is(err, entity.ErrNotFound) || err == nil && !layers.CanReach(p.Layers) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []find.Item{{Kind: find.Entity, ID: p.ID, Status: string(status), ReceivedAt: p.Created,
		Href: "/entitydataquery/api/v2/entity/" + url.PathEscape(p.ID)}}, nil
}

// Documents finds documents.
type Documents struct{ Store document.Store }

// Find implements find.Source.
func (s Documents) Find(ctx context.Context, tenant string, layers access.Layers, id string) ([]find.Item, error) {
	if !isUUID(id) {
		return nil, nil
	}
	d, file, err := s.Store.Get(ctx, tenant, strings.ToLower(id))
	if errors.Is(err, document.ErrNotFound) || err == nil && !layers.CanReach(d.Layers) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []find.Item{{Kind: find.Document, ID: d.ID, Status: string(d.EffectiveState(file).Status),
		ReceivedAt: d.CreatedAt, Href: "/documentmanagementquery/api/documentmanagement/" + d.ID}}, nil
}

// Deliveries finds the deliveries of events to webhooks by their IDs, which receivers get with them.
type Deliveries struct{ Store webhook.Store }

// Find implements find.Source.
func (s Deliveries) Find(ctx context.Context, tenant string, _ access.Layers, id string) ([]find.Item, error) {
	if parsed, err := uuid.Parse(id); err != nil || !isUUID(id) || parsed.Version() != 7 {
		return nil, nil // no delivery has such an ID
	}
	webhooks, err := s.Store.List(ctx, tenant)
	if err != nil {
		return nil, err
	}
	found := make([][]find.Item, len(webhooks)) // of a tenant, which has few
	g, ctx := errgroup.WithContext(ctx)
	for i, w := range webhooks {
		g.Go(func() error {
			d, err := s.Store.GetDelivery(ctx, tenant, w.ID, strings.ToLower(id))
			if errors.Is(err, webhook.ErrNotFound) {
				return nil
			}
			status := string(d.Outcome)
			if d.Outcome == webhook.Pending {
				status = "pending"
			}
			found[i] = []find.Item{{Kind: find.Event, ID: d.ID, Status: status, ReceivedAt: d.CreatedAt,
				Href: "/v1/webhooks/" + w.ID + "/deliveries/" + d.ID}}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var all []find.Item
	for _, items := range found {
		all = append(all, items...)
	}
	return all, nil
}

// Screenings finds screening batches, which have no access layers.
type Screenings struct {
	Store interface {
		Get(ctx context.Context, tenant, id string) (screening.Batch, error)
	}
}

// Find implements find.Source.
func (s Screenings) Find(ctx context.Context, tenant string, _ access.Layers, id string) ([]find.Item, error) {
	if !isUUID(id) {
		return nil, nil
	}
	b, err := s.Store.Get(ctx, tenant, strings.ToLower(id))
	if errors.Is(err, screening.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []find.Item{{Kind: find.Screening, ID: b.ID, Status: string(b.Status), ReceivedAt: b.CreatedAt,
		Href: "/screeningquery/api/v4/batch/" + b.ID}}, nil
}

// isUUID reports whether an ID is a UUID in the form that the platform uses.
func isUUID(id string) bool { return len(id) == len(uuid.Nil.String()) && uuid.Validate(id) == nil }
