// RequestScreening is the Lambda function that asks the adapter of a screening provider to search for the entities of a
// batch. The execution waits for the answer, which the function receiveanswers gets.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/functions/setup"
	"sluice/functions/setup/outboundsetup"
	"sluice/functions/setup/screeningsetup"
	"sluice/shared/kit/sealed"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/screeningdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "TABLE_EXTERNALAUTH", "TABLE_OUTBOUND",
		"SECRETS_KEY_ID", "SCREENING_PATIENCE")
	secrets := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	lambda.Start((&execution.Ask{
		Store: screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Adapters: &execution.AdapterCalls{
			Providers: screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, secrets),
			Receivers: outboundsetup.NewClient(env, secrets),
		},
		Tasks:    screeningsetup.NewMachine(env),
		Patience: env.ScreeningPatience, Now: time.Now, Log: env.Log,
	}).Handle)
}
