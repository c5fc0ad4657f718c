package entitydb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sluice/shared/dynamo"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/entity"
	"sluice/shared/fault"
)

// Profiles keeps what the platform knows of entities, and their drafts. Table: owner / part, with the rows
//
//	<tenant>#entity#<id>        entity                 the record
//	<tenant>#draft#<id>         draft                  the draft
//	<tenant>#journey#<journey>  <creation time>#<id>   a draft of the journey, without its properties
//	paging                      key                    the key of paging tokens
//
// so that a journey's drafts are listed in small items, strongly consistent, whatever the drafts hold. The life-cycle status
// stays in the table of Entities, where batch validation reads it; both are written in one transaction.
type Profiles struct {
	db       *dynamodb.Client
	table    string
	entities string
}

// NewProfiles returns the store on the given tables: its own, and that of Entities.
func NewProfiles(db *dynamodb.Client, table, entities string) *Profiles {
	return &Profiles{db, table, entities}
}

// maxBody leaves room for keys beside the text in an item of 400 KB.
const maxBody = 390_000

var errTooLarge = fault.Newf(fault.TooLarge, "entity_too_large", "An entity or draft has more than %d bytes of JSON.", maxBody)

func recordKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#entity#" + id), "part": dynamo.String("entity")}
}

func draftKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#draft#" + id), "part": dynamo.String("draft")}
}

// putBodyWrite is a put of a value as JSON under a key, at one more than the stored count; 0 stored means that there is no item.
func (s *Profiles) putBodyWrite(key dynamo.Item, v any, stored int64) (types.TransactWriteItem, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	if len(body) > maxBody {
		return types.TransactWriteItem{}, errTooLarge
	}
	key["body"], key["count"] = &types.AttributeValueMemberB{Value: body}, dynamo.Number(stored+1)
	put := &types.Put{TableName: &s.table, Item: key, ConditionExpression: aws.String("attribute_not_exists(#owner)"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner"}}
	if stored > 0 {
		put.ConditionExpression = aws.String("#count = :count")
		put.ExpressionAttributeNames = map[string]string{"#count": "count"}
		put.ExpressionAttributeValues = dynamo.Item{":count": dynamo.Number(stored)}
	}
	return types.TransactWriteItem{Put: put}, nil
}

// Create stores a new entity of status Unknown. entity.ErrChanged if there is one of its id.
func (s *Profiles) Create(ctx context.Context, tenant string, r entity.Profile) error {
	put, err := s.putBodyWrite(recordKey(tenant, r.ID), r, r.Revision-1)
	if err != nil {
		return err
	}
	row := statusKey(tenant, r.ID)
	row["tenant"], row["lifecycle_status"] = dynamo.String(tenant), dynamo.String(string(r.BaseStatus))
	return s.transact(ctx, []types.TransactWriteItem{put, {Put: &types.Put{TableName: &s.entities, Item: row,
		ConditionExpression: aws.String("attribute_not_exists(#entity)"), ExpressionAttributeNames: map[string]string{"#entity": "entity"}}}})
}

// GetProfile reads an entity and its status. entity.ErrNotFound.
func (s *Profiles) GetProfile(ctx context.Context, tenant, id string) (entity.Profile, entity.LifecycleStatus, error) {
	row, err := s.get(ctx, s.entities, statusKey(tenant, id))
	if err != nil {
		return entity.Profile{}, "", err
	}
	status, ok := row["lifecycle_status"].(*types.AttributeValueMemberS)
	if !ok {
		return entity.Profile{}, "", fmt.Errorf("read entity: malformed row")
	}
	current := entity.LifecycleStatus(status.Value)
	row, err = s.get(ctx, s.table, recordKey(tenant, id))
	if errors.Is(err, entity.ErrNotFound) {
		return entity.Profile{ID: id, BaseStatus: current}, current, nil
	}
	if err != nil {
		return entity.Profile{}, "", err
	}
	r, err := body[entity.Profile](row)
	return r, current, err
}

// GetDraft reads one draft. entity.ErrNotFound.
func (s *Profiles) GetDraft(ctx context.Context, tenant, id string) (entity.Draft, error) {
	row, err := s.get(ctx, s.table, draftKey(tenant, id))
	if err != nil {
		return entity.Draft{}, err
	}
	return body[entity.Draft](row)
}

// GetDrafts reads those of the drafts that exist, in the order asked for, each once.
func (s *Profiles) GetDrafts(ctx context.Context, tenant string, ids []string) ([]entity.Draft, error) {
	return bodies(ctx, s, tenant, ids, draftKey, func(d entity.Draft) string { return d.ID })
}

// GetProfiles is Drafts for entities. One that was only imported has no record.
func (s *Profiles) GetProfiles(ctx context.Context, tenant string, ids []string) ([]entity.Profile, error) {
	return bodies(ctx, s, tenant, ids, recordKey, func(r entity.Profile) string { return r.ID })
}

func bodies[T any](ctx context.Context, s *Profiles, tenant string, ids []string, key func(tenant, id string) dynamo.Item, id func(T) string) ([]T, error) {
	found := map[string]T{}
	var keys []dynamo.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		keys = append(keys, key(tenant, id))
	}
	rows, err := dynamo.GetAll(ctx, s.db, s.table, keys)
	if err != nil {
		return nil, fmt.Errorf("read entities: %w", err)
	}
	for _, row := range rows {
		v, err := body[T](row)
		if err != nil {
			return nil, err
		}
		found[id(v)] = v
	}
	all := make([]T, 0, len(found))
	for _, id := range ids {
		if v, ok := found[id]; ok {
			all = append(all, v)
			delete(found, id)
		}
	}
	return all, nil
}

// UpdateDraft stores a draft whose version is one more than that read. entity.ErrChanged.
func (s *Profiles) UpdateDraft(ctx context.Context, tenant string, d entity.Draft) error {
	put, err := s.putBodyWrite(draftKey(tenant, d.ID), d, d.Version-1)
	if err != nil {
		return err
	}
	return s.transact(ctx, []types.TransactWriteItem{put})
}

// ApplyUpdate writes a step of the life cycle. entity.ErrChanged.
func (s *Profiles) ApplyUpdate(ctx context.Context, tenant string, c entity.Update) error {
	record, err1 := s.putBodyWrite(recordKey(tenant, c.Profile.ID), c.Profile, c.Profile.Revision-1)
	draft, err2 := s.putBodyWrite(draftKey(tenant, c.Draft.ID), c.Draft, c.Draft.Version-1)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	items := []types.TransactWriteItem{record, draft, {Update: &types.Update{
		TableName: &s.entities, Key: statusKey(tenant, c.Profile.ID),
		UpdateExpression: aws.String("SET lifecycle_status = :status"), ConditionExpression: aws.String("lifecycle_status = :was"),
		ExpressionAttributeValues: dynamo.Item{":status": dynamo.String(string(c.Status)), ":was": dynamo.String(string(c.PreviousStatus))},
	}}}
	if c.Draft.Version == 1 {
		items = append(items, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: memberRow(tenant, c.Draft)}})
	}
	return s.transact(ctx, items)
}

// transact writes items together. The SDK's retries are one and the same transaction: it sends a token along.
func (s *Profiles) transact(ctx context.Context, items []types.TransactWriteItem) error {
	failed, err := dynamo.Transact(ctx, s.db, items)
	if slices.Contains(failed, true) {
		return entity.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("write entity: %w", err)
	}
	return nil
}

func (s *Profiles) get(ctx context.Context, table string, key dynamo.Item) (dynamo.Item, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("read entity: %w", err)
	}
	if out.Item == nil {
		return nil, entity.ErrNotFound
	}
	return out.Item, nil
}

func body[T any](row dynamo.Item) (T, error) {
	var v T
	b, ok := row["body"].(*types.AttributeValueMemberB)
	if !ok {
		return v, errors.New("read entity: malformed row")
	}
	return v, json.Unmarshal(b.Value, &v)
}

// PagingKey returns the key of paging tokens. The first caller's candidate becomes it.
func (s *Profiles) PagingKey(ctx context.Context, candidate []byte) ([]byte, error) {
	return dynamo.LoadPagingKey(ctx, s.db, s.table, candidate)
}
