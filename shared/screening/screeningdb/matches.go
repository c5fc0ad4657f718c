package screeningdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
)

// concurrency is how many items one putMissing stores at once.
const concurrency = 16

// AddMatches implements screening.Store.
func (s *Store) AddMatches(ctx context.Context, tenant string, matches []screening.Match) error {
	if id, found := screening.EntityOverLimit(matches); found {
		return fault.Newf(fault.TooLarge, "too_many_entity_matches",
			"The entity %.100q has more than %d matches. Raise the threshold, or give the provider more facts "+
				"about it.", id,
			screening.MaxMatches)
	}
	if err := s.putMissing(ctx, len(matches), func(i int) (dynamo.Item, error) {
		return marshalMatch(tenant, matches[i])
	}); err != nil {
		return fmt.Errorf("add matches: %w", err)
	}
	return nil
}

// putMissing stores n items, some at a time. Those that are stored already stay as they are.
func (s *Store) putMissing(ctx context.Context, n int, itemOf func(i int) (dynamo.Item, error)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for i := range n {
		g.Go(func() error {
			item, err := itemOf(i)
			if err != nil {
				return err
			}
			err = s.table.Apply(ctx, "write row", s.table.Put(item, dynamo.Absent, nil))
			if errors.Is(err, dynamo.ErrRefused) {
				return nil // it is stored already
			}
			return err
		})
	}
	return g.Wait()
}

// GetMatches implements screening.Store.
func (s *Store) GetMatches(ctx context.Context, b screening.Batch, refs []screening.MatchRef) ([]screening.Match,
	error) {
	keyOf := func(ref screening.MatchRef) dynamo.Item { return matchKey(b.Tenant, b.ID, ref) }
	matches, err := readInOrder(ctx, s, refs, keyOf, unmarshalMatch)
	if err != nil {
		return nil, fmt.Errorf("read matches: %w", err)
	}
	return slices.DeleteFunc(matches, func(m screening.Match) bool { return !b.HasAnswer(m.AnswerID) }), nil
}

// ListMatches implements screening.Store.
func (s *Store) ListMatches(ctx context.Context, b screening.Batch, entityID, after string, limit int) (
	[]screening.Match, string, error) {
	prefix := matchPrefix(entityID)
	if after != "" {
		after = prefix + after
	}
	items, last, err := s.table.Page(ctx, b.Tenant+"#batch#"+b.ID, prefix, after, limit, false)
	if err != nil {
		return nil, "", fmt.Errorf("list matches: %w", err)
	}
	var page []screening.Match
	for _, item := range items {
		m, err := unmarshalMatch(item)
		if err != nil {
			return nil, "", err
		}
		if b.HasAnswer(m.AnswerID) {
			page = append(page, m)
		}
	}
	return page, strings.TrimPrefix(last, prefix), nil
}

// maxTransactionBytes is the largest size of all items of a transaction of DynamoDB together. Only matches that
// resemble many aliases with long IDs reach it: MaxResolvedAtOnce of the largest others have 2.5 MB, the largest batch
// 0.4 MB.
const maxTransactionBytes = 4_000_000

// Resolve implements screening.Store.
func (s *Store) Resolve(ctx context.Context, b screening.Batch, matches []screening.Match) error {
	put, err := s.replaceBatch(b)
	if err != nil {
		return err
	}
	writes, size := []dynamo.Write{put}, dynamo.ItemSize(put.Put.Item)
	for _, m := range matches {
		item, err := marshalMatch(b.Tenant, m)
		if err != nil {
			return err
		}
		writes = append(writes, s.table.Update(
			matchKey(b.Tenant, b.ID, screening.MatchRef{EntityID: m.EntityID, MatchID: m.ID}),
			"SET resolution = :resolution, version = :next", "version = :previous",
			dynamo.Item{":resolution": item["resolution"], ":next": dynamo.Number(m.Version),
				":previous": dynamo.Number(m.Version - 1)}).Or(screening.ErrChanged))
		// The item that is replaced may be larger: it may include the previous resolution.
		delete(item, "resolution")
		size += dynamo.ItemSize(item) + len("resolution") + screening.MaxResolutionBytes
	}
	if size > maxTransactionBytes {
		return errTooManyBytes
	}
	return s.table.Transact(ctx, "resolve matches", writes...)
}

// matchPrefix begins the parts of the matches of an entity. The length of the ID keeps apart the IDs that begin with
// another one.
func matchPrefix(entityID string) string { return fmt.Sprintf("match#%d#%s#", len(entityID), entityID) }

func matchKey(tenant, batchID string, ref screening.MatchRef) dynamo.Item {
	return key(tenant, "batch#"+batchID, matchPrefix(ref.EntityID)+ref.MatchID)
}

func marshalMatch(tenant string, m screening.Match) (dynamo.Item, error) {
	ref := screening.MatchRef{EntityID: m.EntityID, MatchID: m.ID}
	// The limit is for the provider's data. The aliases of the entity, which the client named, come on top.
	aliases, err := json.Marshal(m.AliasIDs)
	if err != nil {
		return nil, fmt.Errorf("write screening: %w", err)
	}
	item, err := marshal(matchKey(tenant, m.BatchID, ref), m, m.Version, screening.MaxMatchBytes+len(aliases),
		errMatchTooLarge)
	if err != nil {
		return nil, err
	}
	item["resolution"], err = marshalResolution(m.Resolution)
	return item, err
}

func marshalResolution(r screening.Resolution) (types.AttributeValue, error) {
	body, err := json.Marshal(r)
	if err == nil && len(body) > screening.MaxResolutionBytes {
		err = errResolutionTooLarge
	}
	return dynamo.Binary(body), err
}

func unmarshalMatch(item dynamo.Item) (screening.Match, error) {
	m, err := unmarshalBody[screening.Match](item)
	m.Version = dynamo.NumberAttribute(item, "version")
	return m, errors.Join(err, unmarshal(item, "resolution", &m.Resolution))
}
