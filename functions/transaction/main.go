// Transaction is the Lambda function of the endpoint that returns stored transactions.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/findsetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/ingest/transaction/transactionhttp"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_TRANSACTIONS", "TABLE_LIMITS",
		"TABLE_OBSERVATIONS", "TABLE_INDEX", "BUCKET_WORK", "SECRETS_KEY_ID")
	store, err := transactiondb.New(env.DynamoDB(), env.TransactionsTable)
	env.Check(err)
	batches := batchdb.New(env.DynamoDB(), env.BatchesTable)
	s := &transactionhttp.Transactions{
		Store: store, Batches: batches, Hits: findsetup.NewHits(env, store),
		Paging: platform.LoadPaging(context.Background(), batches), Now: time.Now,
	}
	api := httpapi.API{
		Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Limits: env.Limits(), Audit: env.Audit, Log: env.Log,
		Now: time.Now,
	}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
