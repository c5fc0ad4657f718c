package setup

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"sluice/shared/access/idempotency"
	"sluice/shared/access/idempotency/idempotencydb"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/ratelimit/ratelimitdb"
	"sluice/shared/connect/webhook"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/objects"
)

// DynamoDB returns the client for stores.
func (e Env) DynamoDB() *dynamodb.Client { return dynamo.NewClient(e.AWS) }

// Uploads returns the bucket to which clients upload batch files and documents.
func (e Env) Uploads() *objects.Bucket { return e.bucket(e.UploadsBucket) }

// Work returns the bucket of work files and reports.
func (e Env) Work() *objects.Bucket { return e.bucket(e.WorkBucket) }

// ExportFiles returns the bucket of the files that analysts query.
func (e Env) ExportFiles() *objects.Bucket { return e.bucket(e.ExportBucket) }

func (e Env) bucket(name string) *objects.Bucket {
	return objects.New(e.AWS, name, objects.Options{
		PathStyle: e.Endpoint != "" || e.StorageEndpoint != "",
		PublicURL: e.PublicStorageURL,
	})
}

// Limits returns what decides about the limits of tenants. It reads TABLE_LIMITS.
func (e Env) Limits() *ratelimit.Limiter {
	return ratelimit.NewLimiter(ratelimitdb.New(e.DynamoDB(), e.LimitsTable), time.Now)
}

// Observations returns the store of what became of single transactions. It reads TABLE_OBSERVATIONS.
func (e Env) Observations() *observationdb.Store {
	return observationdb.New(e.DynamoDB(), e.ObservationsTable)
}

// IdempotencyKeys returns what decides about requests with a key. It reads TABLE_IDEMPOTENCY.
func (e Env) IdempotencyKeys() *idempotency.Keys {
	return &idempotency.Keys{
		Store: idempotencydb.New(e.DynamoDB(), e.IdempotencyTable), Now: time.Now, NewRun: uuid.NewString,
	}
}

// Positions returns what tells batches how many get a slot before them. It reads TABLE_ADMISSION.
func (e Env) Positions() *admission.Positions {
	return &admission.Positions{
		Queue: admissiondb.New(e.DynamoDB(), e.AdmissionTable), Now: time.Now, Age: 2 * time.Second,
	}
}

// WebhookPolicy returns when deliveries are tried again and given up.
func (e Env) WebhookPolicy() webhook.Policy {
	return webhook.Policy{
		FirstPause: e.WebhookFirstPause, MaxPause: e.WebhookMaxPause, Patience: e.WebhookPatience,
		DisableAfter: e.WebhookDisableAfter,
	}
}
