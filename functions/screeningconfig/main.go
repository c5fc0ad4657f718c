// ScreeningConfig is the Lambda function of the endpoints by which a tenant configures its screening: providers, their
// adapters, and sets of configurations.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"

	"sluice/functions/setup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/sealed"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/screening/screeninghttp"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "SECRETS_KEY_ID", "TABLE_LIMITS")
	box := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	s := &screeninghttp.Configurations{
		Settings:  screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Providers: screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, box),
		Now:       time.Now,
		NewID:     uuid.NewString,
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
