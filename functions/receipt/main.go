// Receipt is the Lambda function of the receipts of batches and of the keys by which they are verified.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/functions/setup"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchhttp"
	"sluice/shared/ingest/receipt/issue"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "RECEIPT_KEY_ID", "TABLE_LIMITS")
	store := batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit)
	s := &batchhttp.Receipts{
		Store: store,
		Issuer: &issue.Issuer{
			Store: store, KMS: kms.NewFromConfig(env.AWS), FirstKMSKey: env.ReceiptKey, Now: time.Now,
		},
		URL: env.Issuer,
		Log: env.Log,
	}
	api := httpapi.API{
		Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Limits: env.Limits(), Audit: env.Audit, Log: env.Log,
		Now: time.Now,
	}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
