package screeningdb

import (
	"encoding/json"
	"fmt"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
)

// maxBodyBytes leaves room for the keys beside the body in an item of 400 KB.
const maxBodyBytes = 380_000

var (
	errTooLarge = fault.Newf(fault.TooLarge, "screening_too_large",
		"The batch or entity would have more than %d bytes as JSON.", maxBodyBytes)
	errMatchTooLarge = fault.Newf(fault.TooLarge, "match_too_large",
		"The match would have more than %d bytes as JSON.", screening.MaxMatchBytes)
	errResolutionTooLarge = fault.Newf(fault.TooLarge, "resolution_too_large",
		"The comments and the classification of a match would have more than %d bytes as JSON.",
		screening.MaxResolutionBytes)
	errTooManyBytes = fault.Newf(fault.TooLarge, "matches_too_large",
		"The matches and the IDs of the aliases that they resemble may have %d bytes together. Resolve fewer of them "+
			"at once.", maxTransactionBytes)
)

// key returns the key of a row. All rows of the area have the tenant first.
func key(tenant, owner, part string) dynamo.Item {
	return dynamo.Key(tenant+"#"+owner, part)
}

func batchKey(tenant, id string) dynamo.Item { return key(tenant, "batch#"+id, "batch") }

func entityKey(tenant, batchID, id string) dynamo.Item {
	return key(tenant, "batch#"+batchID, "entity#"+id)
}

func searchKey(tenant, batchID, provider string) dynamo.Item {
	return key(tenant, "batch#"+batchID, "search#"+provider)
}

func processKey(tenant, journeyID, processID string) dynamo.Item {
	return key(tenant, "journey#"+journeyID, "process#"+processID)
}

// listPart is the place of a batch in the list of a journey or an entity: by creation time, then ID.
func listPart(b screening.Batch) string {
	return "batch#" + b.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000000Z") + "#" + b.ID
}

func journeyListItem(b screening.Batch) dynamo.Item {
	item := key(b.Tenant, "journey#"+b.JourneyID, listPart(b))
	item["batch"] = dynamo.String(b.ID)
	return item
}

func entityListOwner(entityID string) string { return "entity#" + entityID }

func entityListItem(b screening.Batch, entityID string) dynamo.Item {
	item := key(b.Tenant, entityListOwner(entityID), listPart(b))
	item["batch"] = dynamo.String(b.ID)
	return item
}

// marshalBatch returns the row of a batch. A searching batch is in the index searching.
func marshalBatch(b screening.Batch) (dynamo.Item, error) {
	item, err := marshal(batchKey(b.Tenant, b.ID), b, b.Version, maxBodyBytes, errTooLarge)
	if err == nil && b.IsSearching() {
		since := b.StartedAt
		if since.Before(b.CreatedAt) {
			since = b.CreatedAt
		}
		item["searching"], item["look_at"] = dynamo.String(shard(b.ID)), dynamo.String(dynamo.FormatTime(since))
	}
	return item, err
}

func marshalEntity(tenant string, e screening.Entity) (dynamo.Item, error) {
	return marshal(entityKey(tenant, e.BatchID, e.ID), e, e.Version, maxBodyBytes, errTooLarge)
}

// marshal adds a body and a version to the key of a row.
func marshal(item dynamo.Item, body any, version int64, limit int, tooLarge error) (dynamo.Item, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write screening: %w", err)
	}
	if len(text) > limit {
		return nil, tooLarge
	}
	item["body"], item["version"] = dynamo.Binary(text), dynamo.Number(version)
	return item, nil
}

// unmarshalBody returns the value that a row has as its body.
func unmarshalBody[T any](item dynamo.Item) (value T, err error) {
	err = unmarshal(item, "body", &value)
	return value, err
}

func unmarshal(item dynamo.Item, attribute string, into any) error {
	text := dynamo.BinaryAttribute(item, attribute)
	if text == nil {
		return fmt.Errorf("read screening: the row has no %s", attribute)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read screening: %w", err)
	}
	return nil
}
