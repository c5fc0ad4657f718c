// Transaction reads stored transactions back.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/httpapi"
	"sluice/shared/httpapi/monitoring"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "TABLE_TRANSACTIONS")
	store, err := f.Transactions()
	if err != nil {
		f.Log.Error("cannot start", "error", err)
		os.Exit(1)
	}
	s := &monitoring.Transactions{Store: store, Batches: f.Batches()}
	api := httpapi.API{Routes: s.Routes(), Errors: httpapi.MonitoringErrors, Log: f.Log, Now: time.Now}
	lambda.Start(httpapi.Lambda(api.Handler()))
}
