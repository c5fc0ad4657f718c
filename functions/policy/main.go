// Policy is the Lambda function of the endpoints of policies and data groups, without evaluations.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"

	"sluice/functions/setup"
	"sluice/functions/setup/policysetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy/policyhttp"
)

func main() {
	ctx := context.Background()
	env := setup.MustLoad(ctx, "TABLE_POLICIES", "BUCKET_WORK", "TABLE_LIMITS")
	store := policysetup.NewPolicies(env)
	s := &policyhttp.Policies{Store: store, Paging: platform.LoadPaging(ctx, store), Now: time.Now,
		NewID: uuid.NewString}
	lambda.Start(httpapi.Lambda(platform.ProblemHandler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
