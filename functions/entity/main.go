// Entity serves the entity data endpoints.
package main

import (
	"context"
	"os"
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
	key, err := store.PagingKey(ctx, platform.NewPagingKey())
	var paging *platform.Paging
	if err == nil {
		paging, err = platform.NewPaging(key)
	}
	if err != nil {
		f.Log.Error("cannot start", "error", err)
		os.Exit(1)
	}
	s := &entities.Entities{Store: store, Paging: paging, Now: time.Now, NewID: uuid.NewString}
	lambda.Start(httpapi.Lambda(platform.Handler(s.Routes(), f.Log, time.Now)))
}
