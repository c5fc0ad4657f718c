package entitydb_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
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
				errtest.Fatal(b, run(entries))
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
	firstOf := func(table string) dynamo.Item {
		out, err := db.Scan(ctx, &dynamodb.ScanInput{TableName: &table, Limit: aws.Int32(1)})
		if err != nil || len(out.Items) != 1 {
			b.Fatalf("%d items of %s, %v", len(out.Items), table, err)
		}
		return out.Items[0]
	}
	record, status := firstOf("test-records"), firstOf("test-entities")
	// An entity has a row in the list and one with its status and its profile.
	items := func(entries []entity.Import) (records, statuses []dynamo.Item) {
		for _, e := range entries {
			r, s := maps.Clone(record), maps.Clone(status)
			r["part"], s["entity"] = dynamo.String("bare#"+e.ID), dynamo.String("bare#"+e.ID)
			records, statuses = append(records, r), append(statuses, s)
		}
		return records, statuses
	}
	transact := func(entries []entity.Import, hasConditions bool) error {
		records, statuses := items(entries)
		var writes []types.TransactWriteItem
		put := func(table, key string, item dynamo.Item, isNew bool) {
			p := &types.Put{TableName: &table, Item: item}
			if isNew && hasConditions {
				p.ConditionExpression = new("attribute_not_exists(#key)")
				p.ExpressionAttributeNames = map[string]string{"#key": key}
			}
			writes = append(writes, types.TransactWriteItem{Put: p})
		}
		for i, status := range statuses {
			put("test-entities", "entity", status, true)
			put("test-records", "owner", records[i], false)
		}
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(8)
		for group := range slices.Chunk(writes, 100) {
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
