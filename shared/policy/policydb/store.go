// Package policydb keeps policies in DynamoDB, and the contents of their published versions as objects.
package policydb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// Store is the policy.Store. Its table has the keys owner and part, with the rows
//
//	<tenant>#policies     policy#<id>               that the tenant has the policy
//	<tenant>#policies     count                     how many policies the tenant has, how often one was published or
//	                                                archived
//	<tenant>#policy#<id>  policy                    a policy with the list of its drafts, its revision
//	<tenant>#policy#<id>  version#<number>          a version without its contents, its revision
//	<tenant>#policy#<id>  change#field#<id>         a draft's change of a field: the lock of the field
//	<tenant>#policy#<id>  change#jurisdiction#<id>  a draft's change of a jurisdiction: its lock
//	<tenant>#groups       group#<id>                the newest and the published version of a data group
//	<tenant>#groups       published#<id>            the published version of a data group as JSON
//	<tenant>#groups       count                     how many data groups the tenant has
//	<tenant>#groups       changes                   how often published data groups have changed
//	<tenant>#group#<id>   version#<number>          a version of a data group as JSON, its revision
//	paging                key                       the key of page tokens
//
// The contents of a version that is not a draft are the object policies/<tenant>/<digest>.json.gz. The contents of a
// draft are the contents of the policy's base, with the changes of the draft.
//
// # Changes
//
// A change names its draft by a key that is never used for another draft. A change is live while the row of the policy
// lists its draft. All others are dead: they are left from a draft that was published or discarded, or belong to a
// draft whose creation has not ended, or never will because the process died. Three rules hold
// (docs/decisions/0024-changes-are-locks.md):
//
//   - A change is written or removed in one transaction with a new revision of its draft's row. The transaction
//     requires the row of a draft that is not locked, and the base of the policy that was read when the change was
//     decided. Publishing a draft requires the revision that was read.
//   - Every write of a policy's row gives it the next revision, and requires that its revision is the one that was
//     read.
//   - A dead change is overwritten or removed only by a writer that has written the policy's row since it read the
//     change, or writes it in the same transaction. CreateDraftFrom writes the changes of a new draft first and then
//     lists the draft, on condition of the revision that it read before them. If that succeeds, the changes are
//     complete, because overwriting one of them would have changed the revision.
type Store struct {
	table   dynamo.Table
	bundles *bundles
	newID   func() string
}

var _ policy.Store = (*Store)(nil)

// New returns the store in a table, with the contents of versions in files. It makes IDs by newID.
func New(db *dynamodb.Client, table string, f Files, newID func() string) *Store {
	return &Store{table: dynamo.Table{DB: db, Name: table}, bundles: newBundles(f, contentsCacheBytes), newID: newID}
}

// maxAttempts is how often an operation is tried when others write the same rows meanwhile.
const maxAttempts = 10

// errOvertaken means that a conditional write failed because another one has changed a row since it was read.
var errOvertaken = errors.New("policydb: overtaken by another write")

// retry calls try, with growing pauses, as long as it returns errOvertaken. After maxAttempts calls it returns
// policy.ErrChanged.
func retry[R any](ctx context.Context, try func() (R, error)) (R, error) {
	var none R
	for attempt := range maxAttempts {
		result, err := try()
		switch {
		case err == nil:
			return result, nil
		case !errors.Is(err, errOvertaken):
			return none, err
		}
		// The pause is random, so that two writers that overtake each other do not stay in step.
		pause := time.NewTimer(rand.N(min(10*time.Millisecond<<attempt, time.Second)))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return none, ctx.Err()
		}
	}
	return none, policy.ErrChanged
}

// key returns the key of a row. All rows have the tenant first.
func key(tenant, owner, part string) dynamo.Item {
	return dynamo.Key(tenant+"#"+owner, part)
}

func policyKey(tenant, id string) dynamo.Item { return key(tenant, "policy#"+id, policyPart) }

func versionKey(tenant, policyID string, number int64) dynamo.Item {
	return key(tenant, "policy#"+policyID, versionPart(number))
}

const (
	policiesOwner = "policies"
	groupsOwner   = "groups"

	policyPart    = "policy"
	policyPrefix  = "policy#"
	versionPrefix = "version#"
	changePrefix  = "change#"
	countPart     = "count"
)

// versionPart returns the part of a version's row. Parts sort in the order of the numbers.
func versionPart(number int64) string { return fmt.Sprintf("%s%010d", versionPrefix, number) }

// read reads the rows of distinct keys, in the order of the keys, nil where there is none.
func (s *Store) read(ctx context.Context, keys ...dynamo.Item) ([]dynamo.Item, error) {
	rows, err := s.table.InOrder(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	return rows, nil
}

// get reads a row. It returns policy.ErrNotFound if there is none.
func get[Row any](ctx context.Context, s *Store, key dynamo.Item) (Row, error) {
	item, err := s.table.Get(ctx, key)
	if err != nil {
		var row Row
		return row, fmt.Errorf("read policies: %w", err)
	}
	return decode[Row](item)
}

// decode returns a row as it was read. It returns policy.ErrNotFound for nil.
func decode[Row any](item dynamo.Item) (Row, error) {
	var row Row
	if item == nil {
		return row, policy.ErrNotFound
	}
	err := attributevalue.UnmarshalMap(item, &row)
	if err != nil {
		err = fmt.Errorf("read policies: %w", err)
	}
	return row, err
}

// encode returns the item of a row.
func encode(key dynamo.Item, row any) dynamo.Item {
	item, err := attributevalue.MarshalMap(row)
	if err != nil {
		panic(err) // rows are structs of texts, numbers and bytes
	}
	maps.Copy(item, key)
	return item
}

// create returns the write of a row that does not exist.
func (s *Store) create(item dynamo.Item) dynamo.Write {
	return s.table.Put(item, dynamo.Absent, nil).Or(errOvertaken)
}

// replace returns the write of a row of the given revision.
func (s *Store) replace(item dynamo.Item, revision int64) dynamo.Write {
	values := dynamo.Item{":revision": dynamo.Number(revision)}
	return s.table.Put(item, "revision = :revision", values).Or(errOvertaken)
}

// countOneMore returns the write that adds one to the number of an owner's objects. It is refused if there would be
// more than limit.
func (s *Store) countOneMore(tenant, owner string, limit int64) dynamo.Write {
	return s.table.Update(key(tenant, owner, countPart), "ADD objects :one",
		"attribute_not_exists(objects) OR objects < :limit",
		dynamo.Item{":one": dynamo.Number(1), ":limit": dynamo.Number(limit)}).Or(policy.ErrTooMany)
}

// countPublication returns the write that tells SensitiveKeys of a publication or an archival.
func (s *Store) countPublication(tenant string) dynamo.Write {
	return s.table.Update(key(tenant, policiesOwner, countPart), "ADD publications :one", "",
		dynamo.Item{":one": dynamo.Number(1)})
}

// listPage reads at most limit rows of an owner whose parts begin with a prefix, beginning after a part ("" for the
// first). Next is the part to go on after, "" at the end of the list, also if the last page is full.
func (s *Store) listPage(ctx context.Context, owner, prefix, after string, limit int, backward bool) (
	items []dynamo.Item, next string, err error) {
	items, next, err = s.table.Page(ctx, owner, prefix, after, limit+1, backward)
	if err != nil {
		return nil, "", fmt.Errorf("list policies: %w", err)
	}
	if len(items) > limit {
		items = items[:limit]
		next = dynamo.StringAttribute(items[limit-1], "part")
	}
	return items, next, nil
}

// listAll reads all rows of an owner whose parts begin with a prefix, in the order of the parts.
func (s *Store) listAll(ctx context.Context, owner, prefix string) ([]dynamo.Item, error) {
	var items []dynamo.Item
	for item, err := range s.table.All(ctx, owner, prefix) {
		if err != nil {
			return nil, fmt.Errorf("read policies: %w", err)
		}
		items = append(items, item)
	}
	return items, nil
}

// afterVersion returns the part after which a list of versions goes on from a position, "" for the beginning.
func afterVersion(position string) (string, error) {
	if position == "" {
		return "", nil
	}
	number, err := strconv.ParseInt(position, 10, 64)
	if err != nil {
		return "", fmt.Errorf("policydb: the position %q is not a version", position)
	}
	return versionPart(number), nil
}

// versionPosition is the inverse of afterVersion.
func versionPosition(part string) string {
	if part == "" {
		return ""
	}
	number, _ := strconv.ParseInt(part[len(versionPrefix):], 10, 64)
	return strconv.FormatInt(number, 10)
}

// PagingKey implements platform.PagingKeyStore.
func (s *Store) PagingKey(ctx context.Context, candidate []byte) ([]byte, error) {
	return dynamo.LoadPagingKey(ctx, s.table.DB, s.table.Name, candidate)
}
