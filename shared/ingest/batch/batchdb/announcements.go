package batchdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// unannouncedShards begins the partition keys of the index unfinished under which the batches are that have ended and
// whose end is to be announced. A batch gets there by the write that ends it, so that no announcement can be forgotten.
const unannouncedShards = "unannounced-"

// forgetAnnouncement removes everything that is stored about an announcement that is made.
const forgetAnnouncement = "REMOVE unannounced, unfinished, look_at, announcer, announcer_until, exporter, " +
	"exporter_until"

// EachUnannounced reads the index unfinished, the shards in random order.
func (s *Store) EachUnannounced(ctx context.Context, before time.Time, visit func(batch.ID) error) error {
	return s.eachLookedAt(ctx, unannouncedShards, before, visit)
}

// PostponeAnnouncement sets look_at, on the condition that something is to be announced.
func (s *Store) PostponeAnnouncement(ctx context.Context, id batch.ID, at time.Time) error {
	return s.table.Apply(ctx, "postpone the announcement of batch "+string(id),
		s.table.Update(key(id, batchPart), "SET look_at = :at", "attribute_exists(unannounced)",
			dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))}).Or(nil))
}

// ClaimAnnouncement writes the attempt's name, on the condition that there is something to announce and no other name,
// or one whose time is over.
func (s *Store) ClaimAnnouncement(ctx context.Context, id batch.ID, attempt string, now, until time.Time) (batch.Batch,
	error) {
	return s.claim(ctx, id, claim{
		by: "announcer", attempt: attempt, now: now, until: until,
		condition: "attribute_exists(unannounced)", none: batch.ErrNothingToAnnounce,
	})
}

// ClaimExport writes the attempt's name as ClaimAnnouncement does, on the condition that the export is owed.
func (s *Store) ClaimExport(ctx context.Context, id batch.ID, attempt string, now, until time.Time) (batch.Batch,
	error) {
	return s.claim(ctx, id, claim{
		by: "exporter", attempt: attempt, now: now, until: until,
		condition: "contains(unannounced, :export)", none: batch.ErrNothingToExport,
		values: dynamo.Item{":export": dynamo.String(string(batch.Export))},
	})
}

// claim is a claim of an attempt on something that a batch owes.
type claim struct {
	// by is the attribute with the attempt's name; the one with the end of the claim has the suffix _until.
	by         string
	attempt    string
	now, until time.Time
	// condition is that the batch owes it, with the values that the condition names.
	condition string
	values    dynamo.Item
	// none is the error if the batch does not owe it, or another attempt has the claim.
	none error
}

// claim makes a claim, on the condition that there is no other one, or one whose time is over.
func (s *Store) claim(ctx context.Context, id batch.ID, c claim) (batch.Batch, error) {
	values := dynamo.Item{
		":attempt": dynamo.String(c.attempt), ":now": dynamo.String(dynamo.FormatTime(c.now)),
		":until": dynamo.String(dynamo.FormatTime(c.until)),
	}
	maps.Copy(values, c.values)
	b, isMade, err := s.update(ctx, id, "claim as "+c.by, s.table.Update(key(id, batchPart),
		fmt.Sprintf("SET %s = :attempt, %[1]s_until = :until", c.by), c.condition+fmt.Sprintf(
			" AND (attribute_not_exists(%s) OR %[1]s = :attempt OR %[1]s_until < :now)", c.by), values))
	if err == nil && !isMade {
		return batch.Batch{}, c.none
	}
	return b, err
}

// MarkAnnounced takes receivers from those to whom the end of a batch is to be announced. Usually the batch still owes
// what it owed when it was read, which takes one write; each further one goes by what the one before it found.
func (s *Store) MarkAnnounced(ctx context.Context, b batch.Batch, to []batch.Receiver) error {
	known := b.Unannounced
	for _, r := range to {
		if !slices.Contains(known, r) {
			known = to // the batch was read before it ended, or after these receivers were told
			break
		}
	}
	return s.markAnnounced(ctx, b.ID, known, to, "")
}

// MarkExported takes Export from those to whom the end of a batch is to be announced, and writes the key with the same
// write. Usually the others have been told.
func (s *Store) MarkExported(ctx context.Context, id batch.ID, objectKey string) error {
	export := []batch.Receiver{batch.Export}
	return s.markAnnounced(ctx, id, export, export, objectKey)
}

// markAnnounced takes receivers from those to whom the end of a batch is to be announced, which are at first taken to
// be the known ones, and writes the key of its export unless it is empty.
func (s *Store) markAnnounced(ctx context.Context, id batch.ID, known, to []batch.Receiver, exportKey string) error {
	for range 5 {
		rest := slices.DeleteFunc(slices.Clone(known), func(r batch.Receiver) bool { return slices.Contains(to, r) })
		if len(rest) == len(known) {
			return nil // they were told before
		}
		item, err := s.replaceUnannounced(ctx, id, known, rest, exportKey)
		switch {
		case !errors.Is(err, dynamo.ErrRefused):
			return err
		case item == nil:
			return nil
		}
		b, err := unmarshalBatch(item)
		if err != nil {
			return err
		}
		known = b.Unannounced
	}
	return fmt.Errorf("record the announcement of batch %s: it is being changed all the time", id)
}

// replaceUnannounced replaces the receivers to whom the end of a batch is to be announced, on the condition that they
// are those that are known. If they are not, it returns the item as it is beside the error.
func (s *Store) replaceUnannounced(ctx context.Context, id batch.ID, known, rest []batch.Receiver,
	exportKey string) (dynamo.Item, error) {
	update, values := forgetAnnouncement, dynamo.Item{":known": receiverSet(known)}
	var assignments []string
	if len(rest) > 0 {
		update, values[":rest"] = "", receiverSet(rest)
		assignments = append(assignments, "unannounced = :rest")
	}
	if exportKey != "" {
		values[":parquet"] = dynamo.String(exportKey)
		assignments = append(assignments, "parquet = :parquet")
	}
	if len(assignments) > 0 {
		update = "SET " + strings.Join(assignments, ", ") + " " + update
	}
	return s.table.Exchange(ctx, "record the announcement of batch "+string(id),
		s.table.Update(key(id, batchPart), update, "unannounced = :known", values))
}

// receiverSet returns receivers as a set of strings, which must not be empty.
func receiverSet(receivers []batch.Receiver) *types.AttributeValueMemberSS {
	set := &types.AttributeValueMemberSS{}
	for _, r := range receivers {
		set.Value = append(set.Value, string(r))
	}
	return set
}
