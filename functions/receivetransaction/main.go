// ReceiveTransaction is the Lambda function of the endpoint that takes single transactions. The function transaction
// reads them, so that a function that answers reads can write nothing.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/ingest/transaction/transactionhttp"
	"sluice/shared/platform/entity/entitydb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_TRANSACTIONS", "TABLE_ENTITIES", "MAX_LINE_BYTES",
		"TABLE_LIMITS", "TABLE_IDEMPOTENCY", "TABLE_OBSERVATIONS")
	store, err := transactiondb.New(env.DynamoDB(), env.TransactionsTable)
	env.Check(err)
	s := &transactionhttp.Singles{
		Store:        store,
		Observations: env.Observations(),
		Entities:     entitydb.NewStatuses(env.DynamoDB(), env.EntitiesTable),
		MaxBytes:     int(env.MaxLineBytes),
		Log:          env.Log,
		Now:          time.Now,
	}
	api := httpapi.API{
		Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Limits: env.Limits(), Idempotency: env.IdempotencyKeys(),
		Audit: env.Audit, Log: env.Log, Now: time.Now,
	}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
