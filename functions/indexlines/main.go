// IndexLines is the Lambda function that has the lines of ended batches found by their identifiers. The function
// publishevents invokes it asynchronously for each batch that is to be indexed, and a schedule without a batch.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/indexsetup"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_INDEX", "BUCKET_WORK")
	catalog := indexsetup.NewCatalog(env)
	lambda.Start(pipeline.Measured(env.Metrics, metric.Index, (&pipeline.Index{
		Batches: batchdb.New(env.DynamoDB(), env.BatchesTable),
		Indexer: &lineindex.Indexer{Catalog: catalog, Work: env.Work(), Files: env.Work(),
			NewName: pipeline.NewAttempt, Lease: 5 * time.Minute, Now: time.Now},
		Accepted: pipeline.AcceptedLines(env.Work()),
		Tenants:  catalog.Tenants,
		Now:      time.Now,
		Log:      env.Log,
	}).Run))
}
