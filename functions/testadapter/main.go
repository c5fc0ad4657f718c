// TestAdapter is the Lambda function of the endpoint that tests the adapter of a screening provider. The function that
// serves the configuration of providers neither opens secrets of external authentication nor calls the outside.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"

	"sluice/functions/setup"
	"sluice/functions/setup/outboundsetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/sealed"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/screening/screeninghttp"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "TABLE_EXTERNALAUTH", "TABLE_OUTBOUND",
		"SECRETS_KEY_ID", "TABLE_LIMITS")
	secrets := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	providers, client := screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, secrets),
		outboundsetup.NewClient(env, secrets)
	s := &screeninghttp.AdapterTests{
		Providers: providers,
		Adapters: &execution.AdapterTests{
			Calls: &execution.AdapterCalls{Providers: providers, Receivers: client}, Inspector: client,
		},
		NewID: uuid.NewString,
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
