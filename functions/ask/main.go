// Ask is the Lambda function that asks a screening provider with an adapter to search for the entities of a batch. The
// execution waits for the answer, which the receptor gets.
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
		"SECRETS_KEY_ID", "SCREENING_PATIENCE")
	addresses, err := outbound.ParseAddressPolicy(env.PrivateReceivers)
	env.Check(err)
	secrets := sealed.New(env.KMS(), env.SecretsKey)
	receivers := &outbound.Client{
		Configurations: externalauthdb.New(env.DynamoDB(), env.ExternalAuthTable, secrets), Addresses: addresses,
		Keys: outbounddb.New(env.DynamoDB(), env.OutboundTable), KMS: env.KMS(), Log: env.Log,
	}
	providers := screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, secrets)
	lambda.Start((&execution.Ask{
		Store:    screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Adapters: &execution.AdapterCalls{Providers: providers, Receivers: receivers},
		Tasks:    env.ScreeningMachine(),
		Patience: env.ScreeningPatience, Now: time.Now, Log: env.Log,
	}).Handle)
}
