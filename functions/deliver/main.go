// Deliver is the Lambda function of the state machine of deliveries: it makes one attempt to deliver to a webhook.
package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/shared/delivery"
	"sluice/shared/sealed"
	"sluice/shared/setup"
	"sluice/shared/setup/eventsetup"
	"sluice/shared/setup/outboundsetup"
	"sluice/shared/webhook/webhookdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_WEBHOOKS", "TABLE_EXTERNALAUTH", "TABLE_OUTBOUND",
		"SECRETS_KEY_ID", "ANNOUNCE_FUNCTION", "WEBHOOK_FIRST_PAUSE", "WEBHOOK_MAX_PAUSE", "WEBHOOK_PATIENCE",
		"WEBHOOK_DISABLE_AFTER")
	secrets := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	lambda.Start((&delivery.Step{
		Store:     webhookdb.New(env.DynamoDB(), env.WebhooksTable),
		Receivers: outboundsetup.NewClient(env, secrets),
		Secrets:   secrets,
		Events:    eventsetup.NewAnnouncements(env),
		Policy:    env.WebhookPolicy(),
		Now:       time.Now, Random: rand.Float64, Log: env.Log,
	}).HandleInput)
}
