// SearchWatchlists is the Lambda function of the built-in screening provider: it searches the pinned watchlists for
// some of the entities of a screening batch.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/screeningsetup"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/screeningdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "TABLE_WATCHLISTS", "BUCKET_WORK",
		"SCREENING_MAX_MATCHES")
	lambda.Start((&execution.Search{
		Store:      screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Lists:      screeningsetup.NewWatchlists(env),
		MaxMatches: int(env.ScreeningMaxMatches),
		Now:        time.Now,
		Log:        env.Log,
	}).Handle)
}
