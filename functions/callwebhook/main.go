// CallWebhook is the Lambda function of the state machine of deliveries: it makes attempts to deliver messages to
// webhooks.
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
		"WEBHOOK_DISABLE_AFTER", "DELIVER_CARRIERS")
	secrets := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	receivers := outboundsetup.NewClient(env, secrets)
	receivers.MaxConnections = delivery.CallsPerTenant
	lambda.Start((&delivery.Step{
		Store:     webhookdb.New(env.DynamoDB(), env.WebhooksTable),
		Receivers: receivers,
		Secrets:   secrets,
		Events:    eventsetup.NewAnnouncements(env),
		Policy:    env.WebhookPolicy(),
		Carriers:  int(env.DeliverCarriers), OfferPause: 250 * time.Millisecond, NewHolder: setup.RequestID,
		Now: time.Now, Random: rand.Float64, Log: env.Log,
	}).HandleInput)
}
