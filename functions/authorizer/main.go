// Authorizer is the Lambda authorizer of the HTTP interface: it decides about every request to a route that is not
// public.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/auth/authhttp"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_CLIENTS", "AUDIENCE")
	registry := authdb.New(env.DynamoDB(), env.ClientsTable)
	lambda.Start((&authhttp.Authorizer{
		Tokens:   auth.NewVerifier(registry, env.Audience, time.Now),
		Registry: registry,
		Issuer:   env.Issuer,
		Audit:    env.Audit,
		Log:      env.Log,
	}).Run)
}
