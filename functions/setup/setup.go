// Package setup starts Lambda functions: it alone reads their environment, and the packages below it put together what
// several functions share.
package setup

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"sluice/shared/access/audit"
	"sluice/shared/access/idempotency"
	"sluice/shared/access/idempotency/idempotencydb"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/ratelimit/ratelimitdb"
	"sluice/shared/connect/webhook"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/kit/awsconfig"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Env is what the main of a function needs: its settings, its logger, and the configuration from which its AWS clients
// are made.
type Env struct {
	Config
	Log *slog.Logger
	// Audit writes the audit trail, whatever the level of Log.
	Audit *audit.Log
	// Metrics writes metrics, whatever the level of Log.
	Metrics *metric.Log
	AWS     aws.Config
}

// MustLoad returns the environment of a function. If a setting is missing or malformed it ends the process with one log
// line that names every one at fault. The required names are environment variables; see Config.
func MustLoad(ctx context.Context, required ...string) Env {
	cfg, err := Load(os.Getenv, required...)
	env := Env{
		Config: cfg, Log: NewLogger(os.Stderr, cfg.LogLevel), Audit: audit.New(os.Stderr, time.Now, RequestID),
		Metrics: metric.New(os.Stderr, cfg.MetricNamespace, time.Now, RequestID),
	}
	slog.SetDefault(env.Log)
	env.Check(err)
	env.AWS, err = awsconfig.Load(ctx, time.Duration(cfg.RetryMaxPause)*time.Millisecond)
	env.Check(err)
	return env
}

// Check ends the process with one log line if err is not nil. Mains call it for parts that may fail to be made.
func (e Env) Check(err error) {
	if err != nil {
		e.Log.Error("the function cannot start", "error", err)
		os.Exit(1)
	}
}

// NewLogger returns a logger that writes JSON lines to w, each with the request ID of the invocation to which it
// belongs. The level is DEBUG, INFO, WARN or ERROR; any other means INFO.
func NewLogger(w *os.File, level string) *slog.Logger {
	var l slog.Level
	if l.UnmarshalText([]byte(level)) != nil {
		l = slog.LevelInfo
	}
	return slog.New(requestIDHandler{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})})
}

// requestIDHandler adds the request ID of the context to each record.
type requestIDHandler struct{ slog.Handler }

func (h requestIDHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// RequestID returns the ID of the HTTP request that a context belongs to, as its reply names it. Without
// a request it is the ID of the invocation, and "" outside of one.
func RequestID(ctx context.Context) string {
	if id := audit.RequestID(ctx); id != "" {
		return id
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		return lc.AwsRequestID
	}
	return ""
}

func (h requestIDHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestIDHandler{h.Handler.WithAttrs(attrs)}
}

func (h requestIDHandler) WithGroup(name string) slog.Handler {
	return requestIDHandler{h.Handler.WithGroup(name)}
}

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

// Positions returns what tells batches how many get a slot before them. It reads TABLE_ADMISSION
// and SMALL_BATCH_BYTES.
func (e Env) Positions() *admission.Positions {
	return &admission.Positions{
		Queue: admissiondb.New(e.DynamoDB(), e.AdmissionTable), Now: time.Now, Age: 2 * time.Second,
		SmallBytes: e.SmallBatchBytes,
	}
}

// WebhookPolicy returns when deliveries are tried again and given up.
func (e Env) WebhookPolicy() webhook.Policy {
	return webhook.Policy{
		FirstPause: e.WebhookFirstPause, MaxPause: e.WebhookMaxPause, Patience: e.WebhookPatience,
		DisableAfter: e.WebhookDisableAfter,
	}
}
