// Batch serves the batch interface.
package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/batch"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/monitoring"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "BUCKET_UPLOADS", "BUCKET_WORK", "UPLOAD_URL_LIFETIME",
		"DOWNLOAD_URL_LIFETIME", "MAX_UPLOAD_BYTES", "REPORT_RETENTION_DAYS")
	s := &monitoring.Batches{
		Store:            f.Batches(),
		Uploads:          f.Uploads(),
		Reports:          f.Work(),
		UploadLifetime:   f.UploadURLLifetime,
		DownloadLifetime: f.DownloadURLLifetime,
		MaxBytes:         f.MaxUploadBytes,
		ReportDays:       int(f.ReportDays),
		Now:              time.Now,
		NewID:            batch.NewID,
		NewKey:           func() (k [16]byte) { rand.Read(k[:]); return k },
	}
	api := httpapi.API{Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Log: f.Log, Now: time.Now}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
