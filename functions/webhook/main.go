// Webhook is the Lambda function of the endpoints of webhooks.
package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/functions/setup"
	"sluice/functions/setup/outboundsetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/delivery"
	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/connect/webhook/webhookhttp"
	"sluice/shared/kit/sealed"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_WEBHOOKS", "SECRETS_KEY_ID", "DELIVERY_MACHINE_ARN",
		"WEBHOOK_DISABLE_AFTER", "TABLE_LIMITS")
	store := webhookdb.New(env.DynamoDB(), env.WebhooksTable)
	s := &webhookhttp.Webhooks{
		Store:      store,
		Secrets:    sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey),
		Dispatcher: &delivery.Dispatcher{Store: store, Starter: outboundsetup.NewDeliveryMachine(env), Now: time.Now},
		Policy:     env.WebhookPolicy(), Paging: platform.LoadPaging(context.Background(), store),
		Now: time.Now, NewID: webhook.NewID, NewSecret: rand.Text,
	}
	api := httpapi.API{
		Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Limits: env.Limits(), Audit: env.Audit, Log: env.Log,
		Now: time.Now,
	}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
