// ProcessFile is the Lambda function of the state ProcessFile: it brings a batch whose file is one chunk to its end.
package main

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/batchsetup"
	"sluice/functions/setup/stepsetup"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	debug.SetGCPercent(stepsetup.GCPercent)
	debug.SetMemoryLimit(stepsetup.MemoryLimit)
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_INDEX", "TABLE_ENTITIES", "TABLE_TRANSACTIONS",
		"TABLE_ADMISSION", "BUCKET_UPLOADS", "BUCKET_WORK", "SECRETS_KEY_ID", "ANNOUNCE_FUNCTION", "INGEST_SECONDS",
		"SLOTS", "INGEST_CONCURRENCY")
	batches, slots := batchsetup.NewBatches(env), batchsetup.NewSlots(env)
	held := pipeline.HeldSlot{}
	verdict := pipeline.Verdict{Batches: batches, Work: env.Work(), Slots: held, NewAttempt: pipeline.NewAttempt,
		Now: time.Now, Log: env.Log}
	end := pipeline.Close{Batches: batches, Slots: held, Now: time.Now, Log: env.Log}
	m := env.Metrics
	lambda.Start(pipeline.Measured(m, metric.Process, (&pipeline.Process{
		Batches: batches, Slots: slots, Log: env.Log,
		Validate:  pipeline.Measured(m, metric.Validate, stepsetup.NewValidate(env).Run),
		Digest:    pipeline.Measured(m, metric.Digest, stepsetup.NewDigest(env).Run),
		Reconcile: pipeline.Measured(m, metric.Reconcile, stepsetup.NewReconcile(env).Run),
		Settle:    pipeline.Measured(m, metric.Settle, stepsetup.NewSettle(env).Run),
		Verdict:   pipeline.Measured(m, metric.Verdict, verdict.Run),
		Ingest:    pipeline.Measured(m, metric.Ingest, stepsetup.NewIngest(env).Run),
		Close:     pipeline.Measured(m, metric.Close, end.Run),
	}).Run))
}
