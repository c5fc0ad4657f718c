// ReceiveAnswers is the Lambda function that receives the answers of the adapters of screening providers.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"

	"sluice/functions/setup"
	"sluice/functions/setup/screeningsetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/sealed"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/receptorhttp"
	"sluice/shared/screening/screeningdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_SCREENINGS", "BUCKET_WORK", "SECRETS_KEY_ID",
		"UPLOAD_URL_LIFETIME", "TABLE_LIMITS")
	secrets := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	store := screeningdb.New(env.DynamoDB(), env.ScreeningsTable)
	s := &receptorhttp.Receptor{
		Providers: screeningdb.NewProviders(env.DynamoDB(), env.ScreeningsTable, secrets),
		Batches:   store,
		Answers: execution.Receptor{Answers: &execution.Answers{Store: store, Tasks: screeningsetup.NewMachine(env),
			Log: env.Log}},
		Uploads: store, Files: env.Work(), UploadLifetime: env.UploadURLLifetime,
		Now: time.Now, NewID: uuid.NewString, Log: env.Log,
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
