// Package setuptest starts the programs of functions as Lambda does, for tests and measurements of what they do before
// their first request.
package setuptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"sluice/functions/setup"
)

// Init starts a program with all settings there are, waits until it asks the Runtime API for its first event, and ends
// it. It returns how long that took from the start of the process, and how many requests the program made to AWS or
// anyone else.
func Init(ctx context.Context, program string) (took time.Duration, requests int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked := make(chan time.Time, 1)
	runtime, err := serve(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/invocation/next") {
			select {
			case asked <- time.Now():
			default:
			}
			<-ctx.Done()
		}
	})
	if err != nil {
		return 0, 0, err
	}
	defer runtime.close()
	var count atomic.Int64
	world, err := serve(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if err != nil {
		return 0, 0, err
	}
	defer world.close()

	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(settings(world.url),
		"AWS_LAMBDA_RUNTIME_API="+runtime.address, "AWS_LAMBDA_FUNCTION_NAME=f", "AWS_LAMBDA_FUNCTION_VERSION=1",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512", "AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=id",
		"AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=session",
		"HTTP_PROXY="+world.url, "HTTPS_PROXY="+world.url) // so that a request to anywhere is seen
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case at := <-asked:
		took = at.Sub(start)
	case err := <-ended:
		return 0, 0, fmt.Errorf("%s ended before its first request: %w: %s", program, err, output.String())
	case <-ctx.Done():
		err = ctx.Err()
	}
	cancel()
	<-ended
	return took, int(count.Load()), err
}

// settings gives every setting a value, and services the one address.
func settings(url string) []string {
	given := map[string]string{
		"LOG_LEVEL": "ERROR", "AWS_ENDPOINT_URL": url, "AWS_ENDPOINT_URL_S3": url, "MALWARE_SCAN": "guardduty",
		"SLOTS":                        "1/1 0/1/2 1/1",
		"TRANSACTIONS_WARM_THROUGHPUT": "",
		"CLAMD_ADDRESS":                "tcp://127.0.0.1:1", "ISSUER": "https://issuer.test",
		"OUTBOUND_PRIVATE_RECEIVERS": "10.0.0.0/8",
	}
	var env []string
	config := reflect.TypeFor[setup.Config]()
	for i := range config.NumField() {
		name := config.Field(i).Tag.Get("env")
		value, ok := given[name]
		if !ok {
			value = "60" // a name, a number or seconds
		}
		env = append(env, name+"="+value)
	}
	return env
}

type server struct {
	address, url string
	http         *http.Server
}

func serve(handler http.HandlerFunc) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{l.Addr().String(), "http://" + l.Addr().String(), &http.Server{Handler: handler,
		ReadHeaderTimeout: time.Minute}}
	go func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}()
	return s, nil
}

func (s *server) close() { _ = s.http.Close() }
