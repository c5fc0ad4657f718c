// Screening is the Lambda function of the screening endpoints.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"

	"sluice/functions/setup"
	"sluice/functions/setup/screeningsetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/screening/screeninghttp"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "TABLE_DOCUMENTS", "TABLE_RECORDS",
		"TABLE_ENTITIES", "BUCKET_UPLOADS", "UPLOAD_URL_LIFETIME", "TABLE_WATCHLISTS", "SCREENING_MACHINE_ARN",
		"RESOLUTION_MACHINE_ARN", "MAX_UPLOAD_BYTES", "TABLE_LIMITS")
	s := &screeninghttp.Screenings{
		Store:          screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Documents:      documentdb.New(env.DynamoDB(), env.DocumentsTable),
		Files:          env.Uploads(),
		Entities:       entitydb.NewProfiles(env.DynamoDB(), env.RecordsTable, env.EntitiesTable),
		Providers:      screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, nil), // keys are not asked for
		Lists:          catalogdb.New(env.DynamoDB(), env.WatchlistsTable),
		Searches:       screeningsetup.NewMachine(env),
		Resolutions:    screeningsetup.NewNotifier(env),
		MaxBytes:       env.MaxUploadBytes,
		UploadLifetime: env.UploadURLLifetime,
		Now:            time.Now, NewID: uuid.NewString, Log: env.Log,
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
