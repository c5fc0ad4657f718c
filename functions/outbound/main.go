// Outbound is the Lambda function of the endpoints that inspect the certificates of receivers and publish the keys of
// client assertions.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/externalauth/externalauthdb"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outbounddb"
	"sluice/shared/connect/outbound/outboundhttp"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_EXTERNALAUTH", "TABLE_OUTBOUND", "TABLE_LIMITS")
	addresses, err := outbound.ParseAddressPolicy(env.PrivateReceivers)
	env.Check(err)
	s := &outboundhttp.Outbound{
		Inspector: &outbound.Client{Addresses: addresses},
		// Secrets stay sealed: certificates are not secret.
		Configurations: externalauthdb.New(env.DynamoDB(), env.ExternalAuthTable, nil),
		Keys:           outbounddb.New(env.DynamoDB(), env.OutboundTable),
		Now:            time.Now,
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
