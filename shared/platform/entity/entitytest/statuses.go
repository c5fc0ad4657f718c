// Package entitytest helps tests that need entities.
package entitytest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
)

// Statuses are lifecycle statuses by the IDs of entities.
type Statuses map[string]entity.LifecycleStatus

// StoreStatuses stores the statuses of a tenant's entities in the table of statuses of dynamotest.Start, as the first
// releases imported entities: without profiles, and under exactly these IDs.
func StoreStatuses(t testing.TB, db *dynamodb.Client, tenant string, statuses Statuses) {
	t.Helper()
	var items []dynamo.Item
	for id, status := range statuses {
		items = append(items, dynamo.Item{
			"entity": dynamo.String(tenant + "#" + id), "tenant": dynamo.String(tenant),
			"lifecycle_status": dynamo.String(string(status)),
		})
	}
	errtest.Fatal(t, dynamo.PutAll(t.Context(), db, "test-entities", items))
}
