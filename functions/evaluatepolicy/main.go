// EvaluatePolicy is the Lambda function of the endpoints that evaluate policies. It only reads.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/policysetup"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/policy/policyhttp"
	"sluice/shared/screening/screeningdb"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_POLICIES", "BUCKET_WORK", "TABLE_SCREENINGS", "TABLE_RECORDS",
		"TABLE_ENTITIES", "TABLE_LIMITS")
	s := &policyhttp.Evaluations{
		Programs:   policysetup.NewPrograms(env),
		Screenings: screeningdb.New(env.DynamoDB(), env.ScreeningsTable),
		Entities:   entitydb.NewProfiles(env.DynamoDB(), env.RecordsTable, env.EntitiesTable),
		Now:        time.Now,
	}
	lambda.Start(httpapi.Lambda(platform.ProblemHandler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
