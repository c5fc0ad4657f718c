// Matchname is the Lambda function of the endpoint that compares one name with watchlists.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/screeningsetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/screening/screeninghttp"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "TABLE_WATCHLISTS", "BUCKET_WORK", "TABLE_LIMITS")
	s := &screeninghttp.Names{
		Settings:  screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Providers: screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, nil), // keys are not asked for
		Lists:     screeningsetup.NewWatchlists(env),
		Now:       time.Now,
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
