package entitydb_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sluice/shared/dynamo"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity"
	"sluice/shared/entity/entitydb"
)

// BenchmarkImport compares the import of new entities with bare writes of the same items to the same server, in one
// run: in transactions as large as can be with the conditions that the guarantees of an import need, in the same
// transactions without conditions, and in batches, which have no guarantees.
func BenchmarkImport(b *testing.B) {
	const entities, tenant = 5000, "tenant"
	ctx, db := b.Context(), dynamotest.Start(b)
	profiles := entitydb.NewProfiles(db, "test-records", "test-entities")
	rates := map[string]float64{}
	measure := func(name string, run func(entries []entity.Import) error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				entries := make([]entity.Import, entities)
				for i := range entries {
					entries[i] = entity.Import{ID: uuid.NewString(), Status: entity.Compliant}
				}
				begun := time.Now()
				if err := run(entries); err != nil {
					b.Fatal(err)
				}
				rates[name] = max(rates[name], entities/time.Since(begun).Seconds())
			}
			b.ReportMetric(rates[name], "entities/s")
		})
	}
	options := entity.ImportOptions{At: time.Now()}
	measure("import", func(entries []entity.Import) error {
		_, err := profiles.Import(ctx, tenant, entries, options)
		return err
	})
	first, err := db.Scan(ctx, &dynamodb.ScanInput{TableName: ptr("test-records")})
	if err != nil || len(first.Items) < 2 {
		b.Fatalf("%d items, %v", len(first.Items), err)
	}
	items := func(entries []entity.Import) (records, statuses []dynamo.Item) {
		for _, e := range entries {
			for part := range 2 { // a profile and a row of the list
				item := dynamo.Item{}
				for name, value := range first.Items[0] {
					item[name] = value
				}
				item["owner"], item["part"] = dynamo.String("bare#"+e.ID), dynamo.String(fmt.Sprint(part))
				records = append(records, item)
			}
			statuses = append(statuses, dynamo.Item{"entity": dynamo.String(e.ID), "tenant": dynamo.String(tenant),
				"lifecycle_status": dynamo.String(string(e.Status))})
		}
		return records, statuses
	}
	transact := func(entries []entity.Import, hasConditions bool) error {
		records, statuses := items(entries)
		var writes []types.TransactWriteItem
		put := func(table, key string, item dynamo.Item, isNew bool) {
			p := &types.Put{TableName: &table, Item: item}
			if isNew && hasConditions {
				p.ConditionExpression = ptr("attribute_not_exists(#key)")
				p.ExpressionAttributeNames = map[string]string{"#key": key}
			}
			writes = append(writes, types.TransactWriteItem{Put: p})
		}
		for i, status := range statuses {
			put("test-records", "owner", records[2*i], true)
			put("test-entities", "entity", status, true)
			put("test-records", "owner", records[2*i+1], false)
		}
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(8)
		for group := range slices.Chunk(writes, 99) {
			g.Go(func() error {
				_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: group})
				return err
			})
		}
		return g.Wait()
	}
	measure("bare conditional transactions", func(entries []entity.Import) error { return transact(entries, true) })
	measure("bare transactions", func(entries []entity.Import) error { return transact(entries, false) })
	measure("bare batches", func(entries []entity.Import) error {
		records, statuses := items(entries)
		if err := dynamo.PutAll(context.WithoutCancel(ctx), db, "test-records", records); err != nil {
			return err
		}
		return dynamo.PutAll(ctx, db, "test-entities", statuses)
	})
	b.Logf("the import reaches %.2f of the rate of bare conditional transactions, %.2f of that of bare transactions "+
		"and %.2f of that of bare batches", rates["import"]/rates["bare conditional transactions"],
		rates["import"]/rates["bare transactions"], rates["import"]/rates["bare batches"])
}

func ptr[T any](v T) *T { return &v }
