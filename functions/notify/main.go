// Notify is the Lambda function that tells the adapter of a screening provider what people decided about its matches.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/externalauth/externalauthdb"
	"sluice/shared/outbound"
	"sluice/shared/outbound/outbounddb"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/sealed"
	"sluice/shared/setup"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "TABLE_EXTERNALAUTH", "TABLE_OUTBOUND",
		"SECRETS_KEY_ID")
	addresses, err := outbound.ParseAddressPolicy(env.PrivateReceivers)
	env.Check(err)
	secrets := sealed.New(env.KMS(), env.SecretsKey)
	lambda.Start((&execution.Notify{
		Store: screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Adapters: &execution.AdapterCalls{
			Providers: screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, secrets),
			Receivers: &outbound.Client{
				Configurations: externalauthdb.New(env.DynamoDB(), env.ExternalAuthTable, secrets),
				Addresses:      addresses,
				Keys:           outbounddb.New(env.DynamoDB(), env.OutboundTable), KMS: env.KMS(), Log: env.Log,
			},
		},
		Now: time.Now, Log: env.Log,
	}).Handle)
}
