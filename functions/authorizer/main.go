// Authorizer stands before every route that wants a token.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/auth"
	"sluice/shared/httpapi/identity"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_CLIENTS", "AUDIENCE")
	registry := f.Clients()
	lambda.Start((&identity.Authorizer{
		Tokens:   auth.NewVerifier(registry, f.Audience, time.Now),
		Registry: registry,
		Issuer:   f.Issuer,
		Log:      f.Log,
	}).Run)
}
