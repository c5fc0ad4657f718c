// Externalauth is the Lambda function of the endpoints of external authentication.
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
	"sluice/shared/connect/externalauth/externalauthdb"
	"sluice/shared/connect/externalauth/externalauthhttp"
	"sluice/shared/kit/sealed"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_EXTERNALAUTH", "SECRETS_KEY_ID", "TABLE_LIMITS")
	secrets := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	s := &externalauthhttp.Configurations{
		Store: externalauthdb.New(env.DynamoDB(), env.ExternalAuthTable, secrets),
		// The issuer of tokens is the address of the API.
		Address: env.Issuer,
		Now:     time.Now,
		NewID:   uuid.NewString,
	}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
