// PlanChunks is the Lambda function of the state Plan: it divides the uploaded file of a batch into chunks.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/listsetup"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "MAX_LINE_BYTES", "MAX_TRANSACTIONS",
		"MAX_REPORT_BYTES", "VALIDATE_CONCURRENCY", "RECONCILE_CONCURRENCY", "SCREEN_CONCURRENCY", "SETTLE_CONCURRENCY",
		"INGEST_CONCURRENCY", "TABLE_WATCHLISTS", "BUCKET_WORK")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Plan, (&pipeline.Plan{
		Batches:         batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		ChunkBytes:      env.ChunkBytes,
		MaxLineBytes:    env.MaxLineBytes,
		MaxTransactions: env.MaxTransactions,
		MaxReportBytes:  env.MaxReportBytes,
		Widths: pipeline.Widths{Validate: int(env.ValidateConcurrency), Reconcile: int(env.ReconcileConcurrency),
			Screen: int(env.ScreenConcurrency), Settle: int(env.SettleConcurrency), Ingest: int(env.IngestConcurrency)},
		RoundChunks: int(env.RoundChunks),
		Lists:       listsetup.New(env),
		Now:         time.Now,
		Log:         env.Log,
	}).Run))
}
