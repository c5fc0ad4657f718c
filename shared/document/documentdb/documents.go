package documentdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sluice/shared/dynamo"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/document"
	"sluice/shared/fault"
)

// Store is the document.Store on DynamoDB. Table: owner / part. Rows:
//
//	<tenant>#document#<id>      document             the document as JSON, its version
//	<tenant>#file#<id>          file                 its state as JSON, how many documents share it, whether it is about to go
//	<tenant>#group#<n>#<group>  <creation time>#<id>  the id: one for each list that the document is in
//	paging                      key                   the key of paging tokens
//
// Lists are rows and no index, because a read must see every acknowledged write.
type Store struct {
	db    *dynamodb.Client
	table string
}

var _ document.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{db, table} }

// maxDocumentBytes leaves room for the keys below DynamoDB's 400 KB.
const maxDocumentBytes = 380_000

var errDocumentTooLarge = fault.New(fault.TooLarge, "document_too_large", "The document's properties and metadata are too large together.")

func documentKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#document#" + id), "part": dynamo.String("document")}
}

func fileKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#file#" + id), "part": dynamo.String("file")}
}

// groupOwner writes both names so that no other pair gives the same key.
func groupOwner(tenant string, g document.Group) types.AttributeValue {
	return dynamo.String(tenant + "#group#" + strconv.Itoa(len(g.EntityID)) + "#" + g.EntityID + g.JourneyID)
}

// groupRows are the rows of the lists that a document is in.
func groupRows(d document.Document) []dynamo.Item {
	groups := []document.Group{{EntityID: d.EntityID}}
	if d.JourneyID != "" {
		groups = append(groups, document.Group{JourneyID: d.JourneyID}, document.Group{EntityID: d.EntityID, JourneyID: d.JourneyID})
	}
	rows := make([]dynamo.Item, len(groups))
	for i, g := range groups {
		rows[i] = dynamo.Item{"owner": groupOwner(d.Tenant, g), "part": dynamo.String(d.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000000Z") + "#" + d.ID)}
	}
	return rows
}

func documentRow(d document.Document) (dynamo.Item, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("write document: %w", err)
	}
	if len(body) > maxDocumentBytes {
		return nil, errDocumentTooLarge
	}
	row := documentKey(d.Tenant, d.ID)
	row["body"], row["version"], row["file"] = dynamo.String(string(body)), dynamo.Number(d.Version), dynamo.String(d.File)
	return row, nil
}

// Create stores a document, its places in lists, and its file or one more reference to it.
func (s *Store) Create(ctx context.Context, d document.Document, shared bool) error {
	d.Version = 1
	row, err := documentRow(d)
	if err != nil {
		return err
	}
	puts := []types.TransactWriteItem{{Put: &types.Put{TableName: &s.table, Item: row, ConditionExpression: aws.String("attribute_not_exists(part)")}}}
	for _, g := range groupRows(d) {
		g["document"] = dynamo.String(d.ID)
		puts = append(puts, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: g}})
	}
	if d.File != "" {
		file, err := s.reference(d, shared)
		if err != nil {
			return err
		}
		puts = append(puts, file)
	}
	failed, err := dynamo.Transact(ctx, s.db, puts)
	switch {
	case failed[0]:
		return document.ErrExists
	case failed[len(puts)-1] && shared:
		return document.ErrNotFound
	case err != nil:
		return fmt.Errorf("create document: %w", err)
	}
	return nil
}

// reference is the write of a new document's file.
func (s *Store) reference(d document.Document, shared bool) (types.TransactWriteItem, error) {
	if shared {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: &s.table, Key: fileKey(d.Tenant, d.File),
			UpdateExpression:          aws.String("SET documents = documents + :one"),
			ConditionExpression:       aws.String("attribute_exists(part) AND attribute_not_exists(going)"),
			ExpressionAttributeValues: dynamo.Item{":one": dynamo.Number(1)},
		}}, nil
	}
	row := fileKey(d.Tenant, d.File)
	row["documents"] = dynamo.Number(1)
	return types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: row, ConditionExpression: aws.String("attribute_not_exists(part)")}}, nil
}

// Get reads a document and its file.
func (s *Store) Get(ctx context.Context, tenant, id string) (document.Document, document.File, error) {
	found, err := s.read(ctx, tenant, []string{id})
	if err != nil {
		return document.Document{}, document.File{}, fmt.Errorf("get document: %w", err)
	}
	if len(found) == 0 {
		return document.Document{}, document.File{}, document.ErrNotFound
	}
	return found[0].Document, found[0].Stored, nil
}

// Save replaces a document that nobody has changed in between.
func (s *Store) Save(ctx context.Context, d document.Document) (document.Document, error) {
	before := d.Version
	d.Version++
	row, err := documentRow(d)
	if err != nil {
		return document.Document{}, err
	}
	err = dynamo.RetryConflicts(ctx, func() error {
		_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &s.table, Item: row,
			ConditionExpression:                 aws.String("version = :before"),
			ExpressionAttributeValues:           dynamo.Item{":before": dynamo.Number(before)},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	var failed *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &failed) && failed.Item == nil:
		return document.Document{}, document.ErrNotFound
	case errors.As(err, &failed):
		return document.Document{}, document.ErrChanged
	case err != nil:
		return document.Document{}, fmt.Errorf("save document: %w", err)
	}
	return d, nil
}

// PagingKey returns the key of paging tokens. The first caller's candidate becomes it.
func (s *Store) PagingKey(ctx context.Context, candidate []byte) ([]byte, error) {
	return dynamo.LoadPagingKey(ctx, s.db, s.table, candidate)
}
