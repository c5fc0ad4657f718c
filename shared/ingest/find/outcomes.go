package find

import (
	"context"
	"encoding/json"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/transaction"
)

// outcomes are what became of the hits of a page.
type outcomes struct {
	// batches are those of the lines.
	batches map[batch.ID]batch.Batch
	// lines are the stored versions of lines, without their texts, and singles those of the single transactions that
	// were found as versions.
	lines, singles map[versionID]transaction.Version
}

// versionID identifies a version of a tenant.
type versionID struct {
	transaction, modification string
	receivedAt                int64
	batch                     string
}

func idOf(v transaction.Version) versionID {
	return versionID{v.TransactionID, v.Modification, v.ReceivedAt.UnixNano(), v.Batch}
}

// readOutcomes reads what became of hits. Batches and versions are read at the same time: a line is found after its
// batch has ended, and then all its versions are stored.
func (f *Finder) readOutcomes(ctx context.Context, tenant string, hits []Hit) (o outcomes, err error) {
	var ids []batch.ID
	var lines, singles []transaction.Version
	isKnown := map[batch.ID]bool{}
	for _, h := range hits {
		switch {
		case h.Position.Source == fromVersions:
			singles = append(singles, h.version(tenant))
		case h.IsSingle():
		default:
			if !isKnown[h.Batch] {
				isKnown[h.Batch] = true
				ids = append(ids, h.Batch)
			}
			if h.hasAllIDs() {
				lines = append(lines, h.version(tenant))
			}
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	if len(ids) > 0 {
		g.Go(func() (err error) {
			o.batches, err = f.Batches.GetAll(ctx, ids)
			return err
		})
	}
	for _, read := range []struct {
		wanted   []transaction.Version
		keysOnly bool
		found    *map[versionID]transaction.Version
	}{{lines, true, &o.lines}, {singles, false, &o.singles}} {
		if len(read.wanted) == 0 {
			continue
		}
		g.Go(func() error {
			found, err := f.Hits.Versions.Find(ctx, read.wanted, read.keysOnly)
			*read.found = map[versionID]transaction.Version{}
			for _, v := range found {
				(*read.found)[idOf(v)] = v
			}
			return err
		})
	}
	return o, g.Wait()
}

// hasAllIDs reports whether the identifiers of a line could be read that each valid one has.
func (h Hit) hasAllIDs() bool {
	return h.PaymentID != "" && h.TransactionID != "" && h.ModificationID != "" && h.RequestID != ""
}

// describe sets the status and the path of the item of a hit and, of a single transaction that was found as a version,
// the ID of its payment.
func (o outcomes) describe(tenant string, h Hit, item *Item) {
	switch {
	case !h.IsSingle():
		item.Status = o.statusOf(tenant, h)
		if item.Href = resultsPath(h.Batch); item.Status == Ingested {
			item.Href = TransactionPath(h.TransactionID)
		}
	case !h.IsRefused():
		item.Status, item.Href = Ingested, TransactionPath(h.TransactionID)
	default:
		item.Status, item.Href = Rejected, eventsPath(h.ModificationID)
	}
	if v, isStored := o.singles[idOf(h.version(tenant))]; isStored && h.Position.Source == fromVersions {
		item.PaymentID = PaymentOf(v)
	}
}

// statusOf returns the status of a line. One of a batch whose lines were not judged to the end is not ingested.
func (o outcomes) statusOf(tenant string, h Hit) string {
	b := o.batches[h.Batch]
	isIngested := b.Tenant == tenant && b.Status == batch.Processed && !b.ValidateOnly
	_, isStored := o.lines[idOf(h.version(tenant))]
	switch {
	case h.IsInvalid || !h.hasAllIDs() || isIngested && !isStored:
		return Rejected
	case isIngested:
		return Ingested
	}
	return NotIngested
}

// PaymentOf returns the ID of the payment of a stored version.
func PaymentOf(v transaction.Version) string {
	var line struct {
		PaymentID string `json:"payment_external_id"`
	}
	_ = json.Unmarshal(v.Text, &line) // every stored line has one
	return line.PaymentID
}
