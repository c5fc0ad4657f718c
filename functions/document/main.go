// Document is the Lambda function of the document endpoints.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"

	"sluice/functions/setup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/document/documenthttp"
)

func main() {
	ctx := context.Background()
	env := setup.MustLoad(ctx, "TABLE_DOCUMENTS", "BUCKET_UPLOADS", "UPLOAD_URL_LIFETIME", "DOWNLOAD_URL_LIFETIME",
		"MAX_UPLOAD_BYTES", "TABLE_LIMITS")
	store := documentdb.New(env.DynamoDB(), env.DocumentsTable)
	s := &documenthttp.Documents{
		Store:            store,
		Files:            env.Uploads(),
		MaxBytes:         env.MaxUploadBytes,
		UploadLifetime:   env.UploadURLLifetime,
		DownloadLifetime: env.DownloadURLLifetime,
		Now:              time.Now,
		NewID:            uuid.NewString,
		Paging:           platform.LoadPaging(ctx, store),
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
