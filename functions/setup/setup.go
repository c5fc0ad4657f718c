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

	"sluice/shared/access/audit"
	"sluice/shared/kit/awsconfig"
	"sluice/shared/kit/metric"
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
