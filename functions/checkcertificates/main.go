// CheckCertificates is the Lambda function that announces certificates of external authentication before they end. A
// schedule invokes it.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/eventsetup"
	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/externalauth/externalauthdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_EXTERNALAUTH", "ANNOUNCE_FUNCTION")
	n := &externalauth.Notifier{
		Store:  externalauthdb.New(env.DynamoDB(), env.ExternalAuthTable, nil), // which opens no secrets
		Events: eventsetup.NewAnnouncements(env),
		Now:    time.Now,
		Log:    env.Log,
	}
	lambda.Start(n.Run)
}
