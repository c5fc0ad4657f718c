// Document serves the document management endpoints.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"

	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/httpapi/platform/documents"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_DOCUMENTS", "BUCKET_UPLOADS", "UPLOAD_URL_LIFETIME", "DOWNLOAD_URL_LIFETIME")
	s := &documents.Documents{
		Store:            f.Documents(),
		Files:            f.Uploads(),
		UploadLifetime:   f.UploadURLLifetime,
		DownloadLifetime: f.DownloadURLLifetime,
		Now:              time.Now,
		NewID:            uuid.NewString,
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), f.Log, time.Now)))
}
