package batchdb_test

import (
	"testing"

	"sluice/shared/batch"
	"sluice/shared/batch/batchdb"
	"sluice/shared/batch/batchtest"
	"sluice/shared/dynamo/dynamotest"
)

func TestConformance(t *testing.T) {
	batchtest.Conform(t, func(t *testing.T) batch.Store {
		return batchdb.New(dynamotest.Start(t), "test-batches")
	})
}
