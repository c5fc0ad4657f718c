// Watchlist is the Lambda function that looks after watchlists: it reports those that are old and removes versions that
// nothing needs. A schedule invokes it.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/setup"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_WATCHLISTS", "BUCKET_WORK", "WATCHLIST_MAX_AGE")
	u := &catalog.Upkeep{
		Store:   catalogdb.New(env.DynamoDB(), env.WatchlistsTable),
		Objects: env.Work(),
		MaxAge:  env.WatchlistMaxAge,
		Now:     time.Now,
		Log:     env.Log,
	}
	lambda.Start(u.Run)
}
