// Entity is the Lambda function of the entity endpoints.
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
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/entity/entityhttp"
)

func main() {
	ctx := context.Background()
	env := setup.MustLoad(ctx, "TABLE_ENTITIES", "TABLE_RECORDS", "TABLE_POLICIES", "BUCKET_WORK", "TABLE_LIMITS")
	store := entitydb.NewProfiles(env.DynamoDB(), env.RecordsTable, env.EntitiesTable)
	s := &entityhttp.Entities{Store: store, Sensitive: policysetup.NewSensitiveKeys(env),
		Paging: platform.LoadPaging(ctx, store), Now: time.Now, NewID: uuid.NewString}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), env.Limits(), env.Audit, env.Log, time.Now)))
}
