// Entity serves the entity data endpoints.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/uuid"

	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/httpapi/platform/entities"
	"sluice/shared/setup"
)

func main() {
	ctx := context.Background()
	f := setup.Must(ctx, "TABLE_ENTITIES", "TABLE_RECORDS")
	store := f.Records()
	s := &entities.Entities{Store: store, Paging: platform.LoadPaging(ctx, store), Now: time.Now, NewID: uuid.NewString}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), f.Log, time.Now)))
}
