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
	ctx := context.Background()
	f := setup.Must(ctx, "TABLE_DOCUMENTS", "BUCKET_UPLOADS", "UPLOAD_URL_LIFETIME", "DOWNLOAD_URL_LIFETIME")
	store := f.Documents()
	s := &documents.Documents{
		Store:            store,
		Files:            f.Uploads(),
		UploadLifetime:   f.UploadURLLifetime,
		DownloadLifetime: f.DownloadURLLifetime,
		Now:              time.Now,
		NewID:            uuid.NewString,
		Paging:           platform.LoadPaging(ctx, store),
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), f.Log, time.Now)))
}
