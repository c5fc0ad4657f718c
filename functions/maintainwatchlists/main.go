// MaintainWatchlists is the Lambda function that reports old watchlists, removes versions that nothing needs, and
// rescreens the screened entities of tenants when a list has changed. A schedule invokes it.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/eventsetup"
	"sluice/shared/kit/deadline"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/rescreening"
	"sluice/shared/screening/screeningdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_WATCHLISTS", "TABLE_SCREENINGS", "BUCKET_WORK",
		"ANNOUNCE_FUNCTION", "WATCHLIST_MAX_AGE", "SCREENING_MAX_MATCHES")
	lists := catalogdb.New(env.DynamoDB(), env.WatchlistsTable)
	batches := screeningdb.New(env.DynamoDB(), env.ScreeningsTable)
	u := &catalog.Upkeep{Store: lists, Objects: env.Work(), MaxAge: env.WatchlistMaxAge, Now: time.Now, Log: env.Log}
	r := &rescreening.Rescreening{
		Rounds: batches, Batches: batches, Lists: lists, Files: env.Work(), Events: eventsetup.NewAnnouncements(env),
		MaxMatches: int(env.ScreeningMaxMatches), Now: time.Now, Log: env.Log,
	}
	lambda.Start(func(ctx context.Context) error {
		ctx, cancel := deadline.Shorten(ctx, 20*time.Second)
		defer cancel()
		return errors.Join(u.Run(ctx), r.Run(ctx))
	})
}
