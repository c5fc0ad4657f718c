// Token issues access tokens and publishes the keys they are signed with.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/auth"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/identity"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_CLIENTS", "AUDIENCE", "TOKEN_LIFETIME", "SIGNING_KEY_ID")
	s := &identity.Tokens{
		Issuer:   auth.NewIssuer(f.Clients(), f.KMS(), f.SigningKey, f.Audience, f.TokenLifetime),
		URL:      f.Issuer,
		Lifetime: f.TokenLifetime,
	}
	api := httpapi.API{
		Routes: s.Routes(), Errors: identity.Errors, ErrorHeader: identity.NoStore(), Log: f.Log, Now: time.Now,
	}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
