// PublishEvents is the Lambda function that announces the ends of batches, and other events, to the event bus of the
// account and to webhooks. Functions with something to announce invoke it asynchronously.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/eventsetup"
	"sluice/functions/setup/outboundsetup"
	"sluice/shared/connect/announce"
	"sluice/shared/connect/delivery"
	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_WEBHOOKS", "EVENT_BUS", "DELIVERY_MACHINE_ARN",
		"WEBHOOK_COLLECT_TIME", "EXPORT_FUNCTION", "INDEX_FUNCTION")
	bus, webhooks := eventsetup.NewEventBus(env), &delivery.Dispatcher{
		Store:   webhookdb.New(env.DynamoDB(), env.WebhooksTable),
		Starter: outboundsetup.NewDeliveryMachine(env), CollectTime: env.WebhookCollectTime, Now: time.Now,
	}
	lambda.Start((&announce.Announcer{
		Batches: batchdb.New(env.DynamoDB(), env.BatchesTable),
		Senders: map[batch.Receiver]event.Sender{batch.EventBus: bus, batch.Webhooks: webhooks},
		Workers: map[batch.Receiver]announce.WorkRequester{batch.Export: eventsetup.NewWorker(env, env.ExportFunction),
			batch.Index: eventsetup.NewWorker(env, env.IndexFunction)},
		Attempt:  setup.RequestID,
		Lease:    30 * time.Second, // the function's timeout in template.yaml
		BusDelay: time.Second, Patience: 10 * time.Second,
		Now: time.Now,
		Log: env.Log,
	}).Handle)
}
