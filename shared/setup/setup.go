// Package setup is where a function comes to life: the only reader of the environment, and the maker of its AWS clients.
package setup

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
)

// Env is what a main needs: its settings, its logger, and the configuration its AWS clients are made from.
type Env struct {
	Config
	Log *slog.Logger
	AWS aws.Config
}

// MustLoad starts a function, or ends the process with one log line naming everything that is wrong with its settings.
// The required names are environment variables; see Config.
func MustLoad(ctx context.Context, required ...string) Env {
	cfg, err := Load(os.Getenv, required...)
	log := NewLogger(os.Stderr, cfg.LogLevel)
	slog.SetDefault(log)
	if err == nil {
		var env Env
		if env, err = start(ctx, cfg, log); err == nil {
			return env
		}
	}
	log.Error("cannot start", "error", err)
	os.Exit(1)
	return Env{}
}

// Check ends the process with one log line if a part of the function cannot be made.
func (e Env) Check(err error) {
	if err != nil {
		e.Log.Error("cannot start", "error", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, cfg Config, log *slog.Logger) (Env, error) {
	awsConfig, err := AWS(ctx)
	return Env{Config: cfg, Log: log, AWS: awsConfig}, err
}

// AWS loads the usual AWS settings. Endpoints of a local cloud come in by AWS_ENDPOINT_URL, as in every AWS tool.
// Connections are kept in the number a worker uses at once: the SDK's default of 10 idle ones reconnects all the time.
func AWS(ctx context.Context) (aws.Config, error) {
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = 128
		t.MaxIdleConns = 256
		t.ResponseHeaderTimeout = 20 * time.Second // of an answer that does not begin, not of a long one
	})
	return config.LoadDefaultConfig(ctx,
		config.WithHTTPClient(client),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = 5
				o.MaxBackoff = 5 * time.Second
			})
		}))
}

// NewLogger writes JSON lines to w, each with the request id of the invocation it belongs to.
func NewLogger(w *os.File, level string) *slog.Logger {
	var l slog.Level
	if l.UnmarshalText([]byte(level)) != nil {
		l = slog.LevelInfo
	}
	return slog.New(withRequest{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})})
}

type withRequest struct{ slog.Handler }

func (h withRequest) Handle(ctx context.Context, r slog.Record) error {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		r.AddAttrs(slog.String("request_id", lc.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

func (h withRequest) WithAttrs(a []slog.Attr) slog.Handler {
	return withRequest{h.Handler.WithAttrs(a)}
}
func (h withRequest) WithGroup(name string) slog.Handler {
	return withRequest{h.Handler.WithGroup(name)}
}
