// CallWebhook is the Lambda function of the state machine of deliveries: it makes one attempt to deliver messages to a
// webhook.
package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/functions/setup"
	"sluice/functions/setup/eventsetup"
	"sluice/functions/setup/outboundsetup"
	"sluice/shared/connect/delivery"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/kit/sealed"
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
