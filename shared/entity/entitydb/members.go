package entitydb

import (
	"context"
	"fmt"
	"sluice/shared/dynamo"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/access"
	"sluice/shared/entity"
)

type memberItem struct {
	Part       string   `dynamodbav:"part"`
	Draft      string   `dynamodbav:"draft"`
	Entity     string   `dynamodbav:"entity"`
	Geographic []string `dynamodbav:"geographic"`
	Business   []string `dynamodbav:"business_related"`
}

func journeyOwner(tenant, journey string) string { return tenant + "#journey#" + journey }

func memberRow(tenant string, d entity.Draft) dynamo.Item {
	return dynamo.Item{
		"owner": dynamo.String(journeyOwner(tenant, d.JourneyID)), "part": dynamo.String(fmt.Sprintf("%020d#%s", d.Created.UnixNano(), d.ID)),
		"draft": dynamo.String(d.ID), "entity": dynamo.String(d.EntityID),
		"geographic": dynamo.StringList(d.Layers.Geographic), "business_related": dynamo.StringList(d.Layers.BusinessRelated),
	}
}

// ListDrafts reads a page of the drafts of a journey and the position after it; "" at the end. The page is short only at the end
// of the journey or of what the service reads at once.
func (s *Profiles) ListDrafts(ctx context.Context, tenant string, p entity.DraftPage) ([]entity.DraftRef, string, error) {
	query := &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: aws.String("#owner = :owner"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{":owner": dynamo.String(journeyOwner(tenant, p.JourneyID))},
		Limit:                     aws.Int32(int32(p.Limit)), ScanIndexForward: aws.Bool(!p.Descending),
	}
	if p.After != "" {
		query.ExclusiveStartKey = dynamo.Item{"owner": dynamo.String(journeyOwner(tenant, p.JourneyID)), "part": dynamo.String(p.After)}
	}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("list drafts: %w", err)
	}
	members := make([]entity.DraftRef, len(out.Items))
	for i, row := range out.Items {
		var m memberItem
		if err := attributevalue.UnmarshalMap(row, &m); err != nil {
			return nil, "", err
		}
		members[i] = entity.DraftRef{
			DraftID: m.Draft, EntityID: m.Entity, Position: m.Part,
			Layers: access.Layers{Geographic: m.Geographic, BusinessRelated: m.Business},
		}
	}
	next := ""
	if last, ok := out.LastEvaluatedKey["part"].(*types.AttributeValueMemberS); ok {
		next = last.Value
	}
	return members, next, nil
}
