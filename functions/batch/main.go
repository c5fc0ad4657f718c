// Batch is the Lambda function of the batch endpoints: upload URLs, statuses, lists, results and cancels.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/batchsetup"
	"sluice/functions/setup/indexsetup"
	"sluice/functions/setup/listsetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchhttp"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "BUCKET_UPLOADS", "BUCKET_WORK", "BUCKET_EXPORT",
		"CLOSE_FUNCTION", "UPLOAD_URL_LIFETIME", "UPLOAD_PATIENCE", "UPLOAD_PART_BYTES", "DOWNLOAD_URL_LIFETIME",
		"MAX_UPLOAD_BYTES", "REPORT_RETENTION_DAYS", "TABLE_WATCHLISTS", "TABLE_LIMITS", "TABLE_ADMISSION",
		"TABLE_IDEMPOTENCY", "TABLE_OBSERVATIONS", "TABLE_INDEX", "SECRETS_KEY_ID")
	store := batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit)
	s := &batchhttp.Batches{
		Store: store, Paging: platform.LoadPaging(context.Background(), store), Now: time.Now, NewID: batch.NewID,
		Uploads: env.Uploads(), Reports: env.Work(), Exports: env.ExportFiles(), Singles: env.Observations(),
		Lines: indexsetup.NewLines(env, store),
		Lists: listsetup.New(env), Closer: batchsetup.NewCloser(env), Positions: env.Positions(),
		UploadLifetime: env.UploadURLLifetime, UploadPatience: env.UploadPatience, PartSize: env.UploadPartBytes,
		DownloadLifetime: env.DownloadURLLifetime, MaxBytes: env.MaxUploadBytes, Log: env.Log,
		ReportDays: int(env.ReportDays), ParquetDays: int(env.ParquetDays), NewKey: batch.NewDigestKey,
	}
	api := httpapi.API{
		Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Limits: env.Limits(), Idempotency: env.IdempotencyKeys(),
		Audit: env.Audit, Log: env.Log, Now: time.Now,
	}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
