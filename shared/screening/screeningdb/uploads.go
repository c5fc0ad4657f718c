package screeningdb

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening/adapter"
)

var _ adapter.UploadStore = (*Store)(nil)

// uploadRetention is how long the row of an upload is kept after the upload has expired.
const uploadRetention = 24 * time.Hour

func uploadKey(tenant, id string) dynamo.Item { return key(tenant, "uploads", "upload#"+id) }

// CreateUpload implements adapter.UploadStore.
func (s *Store) CreateUpload(ctx context.Context, u adapter.Upload) error {
	item := uploadKey(u.Tenant, u.ID)
	item["created_at"], item["created_by"] = dynamo.String(dynamo.FormatTime(u.CreatedAt)), dynamo.String(u.CreatedBy)
	item["valid_until"] = dynamo.String(dynamo.FormatTime(u.Expires))
	item["expires"] = dynamo.Number(u.Expires.Add(uploadRetention).Unix())
	_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: item,
		ConditionExpression: aws.String("attribute_not_exists(part)")})
	if err != nil {
		return fmt.Errorf("create upload of a response: %w", err)
	}
	return nil
}

// GetUpload implements adapter.UploadStore.
func (s *Store) GetUpload(ctx context.Context, tenant, id string) (adapter.Upload, error) {
	row, err := s.read(ctx, uploadKey(tenant, id))
	if err == nil && row == nil {
		err = adapter.ErrNoUpload
	}
	if err != nil {
		return adapter.Upload{}, err
	}
	u := adapter.Upload{Tenant: tenant, ID: id, CreatedBy: dynamo.StringAttribute(row, "created_by"),
		UsedBy: dynamo.StringAttribute(row, "used_by")}
	if u.CreatedAt, err = dynamo.ParseTime(dynamo.StringAttribute(row, "created_at")); err != nil {
		return adapter.Upload{}, fmt.Errorf("read upload of a response: %w", err)
	}
	if u.Expires, err = dynamo.ParseTime(dynamo.StringAttribute(row, "valid_until")); err != nil {
		return adapter.Upload{}, fmt.Errorf("read upload of a response: %w", err)
	}
	return u, nil
}

// UseUpload implements adapter.UploadStore.
func (s *Store) UseUpload(ctx context.Context, tenant, id, message string) error {
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: uploadKey(tenant, id),
		UpdateExpression: aws.String("SET used_by = :message"),
		ConditionExpression: aws.String(
			"attribute_exists(part) AND (attribute_not_exists(used_by) OR used_by = :message)"),
		ExpressionAttributeValues:           dynamo.Item{":message": dynamo.String(message)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	stored, failed := dynamo.ConditionFailed(err)
	switch {
	case failed && len(stored) == 0:
		return adapter.ErrNoUpload
	case failed:
		return adapter.ErrUploadUsed
	case err != nil:
		return fmt.Errorf("use upload of a response: %w", err)
	}
	return nil
}
