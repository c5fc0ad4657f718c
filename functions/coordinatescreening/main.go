// CoordinateScreening is the Lambda function that begins and ends the executions of screening batches, also of those
// that were stopped, and starts the batches whose start was lost.
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
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "SCREENING_MACHINE_ARN", "SCREENING_PATIENCE",
		"SCREENING_WIDTH", "SWEEP_AGE")
	lambda.Start((&execution.Coordinator{
		Store:    screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Runs:     screeningsetup.NewMachine(env),
		Patience: env.ScreeningPatience,
		Width:    int(env.ScreeningWidth),
		SweepAge: env.SweepAge,
		Now:      time.Now,
		Log:      env.Log,
	}).HandleInput)
}
