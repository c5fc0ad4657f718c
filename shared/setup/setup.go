// Package setup starts Lambda functions. It is the only package that reads the environment, and it makes the AWS
// clients.
package setup

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/middleware"

	"sluice/shared/audit"
	"sluice/shared/metric"
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
	env.AWS, err = LoadAWS(ctx, config.WithRetryer(newRetryer(time.Duration(cfg.RetryMaxPause)*time.Millisecond)))
	env.Check(err)
	return env
}

// defaultRetryMaxPause is the longest pause between two attempts at one call to AWS.
const defaultRetryMaxPause = 5 * time.Second

// newRetryer returns what makes retryers: each call is attempted up to five times, with pauses up to longest; 0 means
// defaultRetryMaxPause.
func newRetryer(longest time.Duration) func() aws.Retryer {
	return func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 5
			o.MaxBackoff = cmp.Or(longest, defaultRetryMaxPause)
			o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(isCutOff))
		})
	}
}

// isCutOff reports that a reply ended before its length, because the connection was closed. The SDK by itself repeats a
// call only if its connection was reset.
func isCutOff(err error) aws.Ternary {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// Check ends the process with one log line if err is not nil. Mains call it for parts that may fail to be made.
func (e Env) Check(err error) {
	if err != nil {
		e.Log.Error("the function cannot start", "error", err)
		os.Exit(1)
	}
}

// LoadAWS loads the AWS settings that every AWS tool reads. AWS_ENDPOINT_URL leads to a local cloud.
// The options come after its own.
func LoadAWS(ctx context.Context, options ...func(*config.LoadOptions) error) (aws.Config, error) {
	own := []func(*config.LoadOptions) error{
		config.WithHTTPClient(newHTTPClient()),
		config.WithAPIOptions([]func(*middleware.Stack) error{keepConnections}),
		config.WithRetryer(newRetryer(0)),
	}
	return config.LoadDefaultConfig(ctx, append(own, options...)...)
}

// AWSAt returns settings like those of LoadAWS that lead to an endpoint, such as that of a local cloud. Nothing of the
// environment or of AWS's files is in them: a variable like AWS_ENDPOINT_URL_DYNAMODB would go before the endpoint, and
// a profile that does not exist would be an error.
func AWSAt(endpoint, region string, credentials aws.CredentialsProvider) aws.Config {
	return aws.Config{
		BaseEndpoint: &endpoint, Region: region, Credentials: credentials,
		HTTPClient: newHTTPClient(),
		APIOptions: []func(*middleware.Stack) error{keepConnections},
		Retryer:    newRetryer(0),
		// What LoadAWS gets from the SDK unless the environment has others.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
}

// newHTTPClient returns the client by which all calls of a program to AWS are made.
func newHTTPClient() aws.HTTPClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		// As many connections stay open as a step uses at once. With the SDK's default of 10 it would reconnect all the
		// time.
		t.MaxIdleConnsPerHost = 128
		t.MaxIdleConns = 256
		// The limit is on the wait for a response to begin, not on its length.
		t.ResponseHeaderTimeout = 20 * time.Second
	})
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

// RequestID returns the ID of the HTTP request that a context belongs to, as the client is told it, else that of its
// invocation, else "".
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
