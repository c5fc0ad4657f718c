// SendResolutions is the Lambda function that sends the resolutions of matches to the adapter of the screening provider
// that found them.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/functions/setup"
	"sluice/functions/setup/outboundsetup"
	"sluice/shared/kit/sealed"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/screeningdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "TABLE_EXTERNALAUTH", "TABLE_OUTBOUND",
		"SECRETS_KEY_ID")
	secrets := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	lambda.Start((&execution.Notify{
		Store: screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Adapters: &execution.AdapterCalls{
			Providers: screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, secrets),
			Receivers: outboundsetup.NewClient(env, secrets),
		},
		Now: time.Now, Log: env.Log,
	}).Handle)
}
