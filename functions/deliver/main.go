// Deliver is the Lambda function of the state machine of deliveries: it makes one attempt to deliver to a webhook.
package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/delivery"
	"sluice/shared/externalauth/externalauthdb"
	"sluice/shared/outbound"
	"sluice/shared/outbound/outbounddb"
	"sluice/shared/sealed"
	"sluice/shared/setup"
	"sluice/shared/webhook/webhookdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_WEBHOOKS", "TABLE_EXTERNALAUTH", "TABLE_OUTBOUND",
		"SECRETS_KEY_ID", "ANNOUNCE_FUNCTION", "WEBHOOK_FIRST_PAUSE", "WEBHOOK_MAX_PAUSE", "WEBHOOK_PATIENCE",
		"WEBHOOK_DISABLE_AFTER")
	addresses, err := outbound.ParseAddressPolicy(env.PrivateReceivers)
	env.Check(err)
	secrets := sealed.New(env.KMS(), env.SecretsKey)
	lambda.Start((&delivery.Step{
		Store: webhookdb.New(env.DynamoDB(), env.WebhooksTable),
		Receivers: &outbound.Client{
			Configurations: externalauthdb.New(env.DynamoDB(), env.ExternalAuthTable, secrets),
			Addresses:      addresses,
			Keys:           outbounddb.New(env.DynamoDB(), env.OutboundTable), KMS: env.KMS(), Log: env.Log,
		},
		Secrets: secrets,
		Events:  env.Announcements(),
		Policy:  env.WebhookPolicy(),
		Now:     time.Now, Random: rand.Float64, Log: env.Log,
	}).HandleInput)
}
