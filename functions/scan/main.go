// Scan is run by S3 for every upload.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/intake"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "BUCKET_UPLOADS", "STATE_MACHINE_ARN", "MAX_UPLOAD_BYTES")
	scanner, err := f.Scanner()
	if err != nil {
		f.Log.Error("cannot start", "error", err)
		os.Exit(1)
	}
	in := &intake.Intake{
		Batches:  f.Batches(),
		Uploads:  f.Uploads(),
		Scanner:  scanner,
		Machine:  f.Machine(),
		MaxBytes: f.MaxUploadBytes,
		Attempts: 3,
		Now:      time.Now,
		Log:      f.Log,
	}
	lambda.Start(in.Handle)
}
