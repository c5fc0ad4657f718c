package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/transaction/transactiondb"
)

// bareResult is what the bare loop did.
type bareResult struct {
	items   int64
	writers int
	took    time.Duration
}

// rate returns the items written in a second.
func (b bareResult) rate() float64 {
	if b.took == 0 {
		return 0
	}
	return float64(b.items) / b.took.Seconds()
}

// preparedItems is how many items are made before they are written. The time that this takes does not count.
const preparedItems = 20_000

// writeBare writes the items of the first lines of a case to a table of its own on the server of the local cloud, by
// nothing but BatchWriteItem calls of 25 items, several at a time.
func writeBare(ctx context.Context, c *cloud, tc testCase, lines, items int64, writers int) (bareResult, error) {
	r := bareResult{writers: writers}
	table := "bench-bare"
	db := dynamodb.NewFromConfig(c.aws())
	_, err := db.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("transaction"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("version"), AttributeType: types.ScalarAttributeTypeB},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("transaction"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("version"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		return r, err
	}
	s, err := tc.open(lines)
	if err != nil {
		return r, err
	}
	maker, err := newItemMaker(c.TenantID)
	if err != nil {
		return r, err
	}
	for r.items < items {
		requests, err := maker.make(ctx, s, min(preparedItems, items-r.items))
		if err != nil {
			return r, err
		}
		start := time.Now()
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(writers)
		for page := range slices.Chunk(requests, 25) {
			g.Go(func() error {
				out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
					RequestItems: map[string][]types.WriteRequest{table: page},
				})
				if err == nil && len(out.UnprocessedItems) > 0 {
					err = fmt.Errorf("%d items were not written", len(out.UnprocessedItems[table]))
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return r, err
		}
		r.took += time.Since(start)
		r.items += int64(len(requests))
	}
	return r, nil
}

// itemMaker makes the items that ingestion stores, by the store itself, whose calls it keeps from being sent.
type itemMaker struct {
	store    *transactiondb.Store
	scanner  *scanner.Scanner
	tenant   string
	batch    string
	made     int64
	requests []types.WriteRequest
}

func newItemMaker(tenant string) (*itemMaker, error) {
	m := &itemMaker{scanner: scanner.New(transaction.Rules{}), tenant: tenant, batch: uuid.NewString()}
	db := dynamodb.New(dynamodb.Options{Region: "none", APIOptions: []func(*middleware.Stack) error{
		func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("collect", m.collect), middleware.Before)
		}}})
	var err error
	m.store, err = transactiondb.New(db, "none")
	return m, err
}

// collect keeps the items of a call in place of sending it.
func (m *itemMaker) collect(_ context.Context, in middleware.InitializeInput, _ middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error) {
	for _, requests := range in.Parameters.(*dynamodb.BatchWriteItemInput).RequestItems {
		m.requests = append(m.requests, requests...)
	}
	return middleware.InitializeOutput{Result: &dynamodb.BatchWriteItemOutput{}}, middleware.Metadata{}, nil
}

// make returns the requests for the next items.
func (m *itemMaker) make(ctx context.Context, s source, items int64) ([]types.WriteRequest, error) {
	m.requests = m.requests[:0]
	for range items {
		m.made++
		line := s.next(nil)
		identity := m.scanner.Identify(line)
		_, err := m.store.Put(ctx, []transaction.Version{{
			Tenant: m.tenant, TransactionID: string(identity.TransactionExternalID),
			Modification: string(identity.ModificationID), ReceivedAt: time.Unix(1_700_000_000, 0), Batch: m.batch,
			Line: m.made, MainEntity: identity.MainEntity, Text: line,
		}})
		if err != nil {
			return nil, err
		}
	}
	return m.requests, nil
}
