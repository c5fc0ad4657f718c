// Find is the Lambda function of the endpoint that finds everything by its ID.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/findsetup"
	"sluice/functions/setup/sourcesetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/find"
	"sluice/shared/ingest/find/findhttp"
	"sluice/shared/ingest/transaction/transactiondb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_TRANSACTIONS", "TABLE_OBSERVATIONS",
		"TABLE_INDEX", "BUCKET_WORK", "SECRETS_KEY_ID", "TABLE_RECORDS", "TABLE_ENTITIES", "TABLE_DOCUMENTS",
		"TABLE_WEBHOOKS", "TABLE_SCREENINGS", "TABLE_LIMITS")
	versions, err := transactiondb.New(env.DynamoDB(), env.TransactionsTable)
	env.Check(err)
	batches := batchdb.New(env.DynamoDB(), env.BatchesTable)
	s := &findhttp.Find{Paging: platform.LoadPaging(context.Background(), batches),
		Finder: &find.Finder{Hits: findsetup.NewHits(env, versions), Batches: batches,
			Sources: sourcesetup.NewSources(env, batches), Now: time.Now}}
	api := httpapi.API{
		Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Limits: env.Limits(), Audit: env.Audit, Log: env.Log,
		Now: time.Now,
	}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
