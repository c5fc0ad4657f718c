// Token is the Lambda function of the token endpoint and of the key set by which tokens are verified.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/functions/setup"
	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/auth/authhttp"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/ratelimit"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_CLIENTS", "AUDIENCE", "TOKEN_LIFETIME", "SIGNING_KEY_ID",
		"TABLE_LIMITS")
	s := &authhttp.Tokens{
		Issuer: auth.NewIssuer(authdb.New(env.DynamoDB(), env.ClientsTable), kms.NewFromConfig(env.AWS),
			env.SigningKey, env.Audience, env.TokenLifetime),
		URL:      env.Issuer,
		Lifetime: env.TokenLifetime,
	}
	api := httpapi.API{
		Routes: s.Routes(), Errors: authhttp.Errors, Limits: env.Limits(),
		TokenRequests: ratelimit.TokenRequestLimit(env.TokenRequests), Audit: env.Audit, Log: env.Log, Now: time.Now,
	}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
