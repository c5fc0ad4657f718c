package documentdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sluice/shared/dynamo"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/document"
)

// Release marks the file of its last document as about to go.
func (s *Store) Release(ctx context.Context, d document.Document) (bool, error) {
	if d.File == "" {
		return false, nil
	}
	err := s.updateFile(ctx, d.Tenant, d.File, "SET going = :yes", "documents = :one",
		dynamo.Item{":one": dynamo.Number(1), ":yes": &types.AttributeValueMemberBOOL{Value: true}})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("release file: %w", err)
	}
	return true, nil
}

func (s *Store) updateFile(ctx context.Context, tenant, file, set, condition string, values dynamo.Item) error {
	return dynamo.RetryConflicts(ctx, func() error {
		_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: fileKey(tenant, file), UpdateExpression: &set, ConditionExpression: &condition,
			ExpressionAttributeValues:           values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
}

// dereference is the write by which a file loses one document, or goes with its last.
func (s *Store) dereference(tenant, file string, last bool) types.TransactWriteItem {
	if last {
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.table, Key: fileKey(tenant, file), ConditionExpression: aws.String("attribute_exists(going)")}}
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: fileKey(tenant, file),
		UpdateExpression:          aws.String("SET documents = documents - :one"),
		ConditionExpression:       aws.String("documents > :one"),
		ExpressionAttributeValues: dynamo.Item{":one": dynamo.Number(1)}}}
}

// Replace saves a document with a new file in place of the one it had.
func (s *Store) Replace(ctx context.Context, d document.Document, had string, last bool) (document.Document, error) {
	before := d.Version
	d.Version++
	row, err := documentRow(d)
	if err != nil {
		return document.Document{}, err
	}
	file, err := s.reference(d, false)
	if err != nil {
		return document.Document{}, err
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Put: &types.Put{TableName: &s.table, Item: row, ConditionExpression: aws.String("version = :before"),
			ExpressionAttributeValues: dynamo.Item{":before": dynamo.Number(before)}}},
		file, s.dereference(d.Tenant, had, last),
	})
	if failed[0] || failed[2] {
		return document.Document{}, document.ErrChanged
	}
	if err != nil {
		return document.Document{}, fmt.Errorf("replace file: %w", err)
	}
	return d, nil
}

// Delete removes a document, its places in lists, and its reference to the file.
func (s *Store) Delete(ctx context.Context, d document.Document, last bool) error {
	writes := []types.TransactWriteItem{{Delete: &types.Delete{
		TableName: &s.table, Key: documentKey(d.Tenant, d.ID), ConditionExpression: aws.String("version = :version"),
		ExpressionAttributeValues: dynamo.Item{":version": dynamo.Number(d.Version)},
	}}}
	for _, g := range groupRows(d) {
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: g}})
	}
	if d.File != "" {
		writes = append(writes, s.dereference(d.Tenant, d.File, last))
	}
	failed, err := dynamo.Transact(ctx, s.db, writes)
	if failed[0] || failed[len(writes)-1] {
		return document.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("delete document: %w", err)
	}
	return nil
}

// Settle records the outcome of a scan once.
func (s *Store) Settle(ctx context.Context, tenant, file string, state document.State) error {
	body, err := json.Marshal(state)
	if err != nil {
		return err
	}
	err = s.updateFile(ctx, tenant, file, "SET outcome = :outcome",
		"attribute_exists(part) AND attribute_not_exists(going) AND (attribute_not_exists(outcome) OR outcome = :outcome)",
		dynamo.Item{":outcome": dynamo.String(string(body))})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		if _, going := failed.Item["going"]; failed.Item == nil || going {
			return document.ErrNotFound
		}
		return document.ErrSettled
	}
	if err != nil {
		return fmt.Errorf("settle file: %w", err)
	}
	return nil
}

// List reads a page of a group.
func (s *Store) List(ctx context.Context, tenant string, g document.Group, after string, limit int) ([]document.Found, string, error) {
	// An empty string is no key; a space sorts before every part and right behind the part it is put after.
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(min(limit, dynamo.MaxGetKeys))),
		KeyConditionExpression:    aws.String("#owner = :owner AND part > :after"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{":owner": groupOwner(tenant, g), ":after": dynamo.String(after + " ")},
	})
	if err != nil {
		return nil, "", fmt.Errorf("list documents: %w", err)
	}
	ids, positions := make([]string, len(out.Items)), map[string]string{}
	for i, row := range out.Items {
		ids[i] = dynamo.StringAttribute(row, "document")
		positions[ids[i]] = dynamo.StringAttribute(row, "part")
	}
	found, err := s.read(ctx, tenant, ids)
	if err != nil {
		return nil, "", fmt.Errorf("list documents: %w", err)
	}
	for i := range found {
		found[i].Position = positions[found[i].ID]
	}
	next := ""
	if out.LastEvaluatedKey != nil && len(ids) > 0 {
		next = positions[ids[len(ids)-1]]
	}
	return found, next, nil
}

// read reads at most readBatch documents and their files, in the order of the ids; those that are not there are left out.
func (s *Store) read(ctx context.Context, tenant string, ids []string) ([]document.Found, error) {
	rows, err := s.rows(ctx, ids, func(id string) dynamo.Item { return documentKey(tenant, id) })
	if err != nil {
		return nil, err
	}
	found := make(map[string]document.Document, len(rows))
	var files []string
	for _, row := range rows {
		var d document.Document
		if err := json.Unmarshal([]byte(dynamo.StringAttribute(row, "body")), &d); err != nil {
			return nil, fmt.Errorf("read document row: %w", err)
		}
		if found[d.ID] = d; d.File != "" {
			files = append(files, d.File)
		}
	}
	slices.Sort(files)
	if rows, err = s.rows(ctx, slices.Compact(files), func(id string) dynamo.Item { return fileKey(tenant, id) }); err != nil {
		return nil, err
	}
	stored := make(map[string]document.File, len(rows))
	for _, row := range rows {
		f, err := fileOf(row, tenant)
		if err != nil {
			return nil, err
		}
		stored[f.ID] = f
	}
	out := make([]document.Found, 0, len(ids))
	for _, id := range ids {
		if d, ok := found[id]; ok {
			out = append(out, document.Found{Document: d, Stored: stored[d.File]})
		}
	}
	return out, nil
}

func (s *Store) rows(ctx context.Context, ids []string, key func(string) dynamo.Item) ([]dynamo.Item, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	return dynamo.GetAll(ctx, s.db, s.table, keys)
}

func fileOf(row dynamo.Item, tenant string) (document.File, error) {
	f := document.File{ID: dynamo.StringAttribute(row, "owner")[len(tenant+"#file#"):], Tenant: tenant, State: document.State{Status: document.Processing}}
	if n, ok := row["documents"].(*types.AttributeValueMemberN); ok {
		f.Documents, _ = strconv.ParseInt(n.Value, 10, 64)
	}
	if outcome := dynamo.StringAttribute(row, "outcome"); outcome != "" {
		if err := json.Unmarshal([]byte(outcome), &f.State); err != nil {
			return document.File{}, fmt.Errorf("read file row: %w", err)
		}
	}
	return f, nil
}
