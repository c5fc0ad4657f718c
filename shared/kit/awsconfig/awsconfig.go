// Package awsconfig makes the settings of AWS clients: how they connect, and how often they repeat a call.
package awsconfig

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Load loads the AWS settings that every AWS tool reads. AWS_ENDPOINT_URL leads to a local cloud. The longest pause
// between two attempts at one call is maxPause; 0 means 5 s. The options come after its own.
func Load(ctx context.Context, maxPause time.Duration, options ...func(*config.LoadOptions) error) (aws.Config, error) {
	own := []func(*config.LoadOptions) error{
		config.WithHTTPClient(newHTTPClient()),
		config.WithAPIOptions([]func(*middleware.Stack) error{keepConnections}),
		config.WithRetryer(newRetryer(maxPause)),
	}
	return config.LoadDefaultConfig(ctx, append(own, options...)...)
}

// At returns settings as Load does for a given endpoint, such as the endpoint of a local cloud. Nothing of the
// environment or of AWS's files is in them: a variable like AWS_ENDPOINT_URL_DYNAMODB would go before the endpoint, and
// a profile that does not exist would be an error.
func At(endpoint, region string, credentials aws.CredentialsProvider) aws.Config {
	return aws.Config{
		BaseEndpoint: &endpoint, Region: region, Credentials: credentials,
		HTTPClient: newHTTPClient(),
		APIOptions: []func(*middleware.Stack) error{keepConnections},
		Retryer:    newRetryer(0),
		// What Load gets from the SDK unless the environment has others.
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

// defaultRetryMaxPause is the longest pause between two attempts at one call to AWS.
const defaultRetryMaxPause = 5 * time.Second

// newRetryer returns a factory of retryers: each call is attempted up to five times, with pauses up to longest; 0 means
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

// keepConnections makes the bodies of requests plain readers, without a method WriteTo.
//
// The SDK closes the body of a request when the answer begins. On a busy machine, net/http may not have seen the end of
// the body by then, although it has sent all of it. To see it, net/http reads on, by WriteTo if there is one; and
// WriteTo of a closed body returns io.EOF (smithy-go v1.28.8), where io.WriterTo wants nil. net/http takes that for a
// failed request and closes the connection. The answer is lost, and the SDK sends the call again, which the service has
// done: an event is on the bus twice, a function is invoked twice. Read of a closed body returns io.EOF, as it should.
func keepConnections(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("sluice:plain-body", withPlainBody),
		middleware.After)
}

// withPlainBody passes a request on whose body is a plain reader.
func withPlainBody(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error) {
	if r, ok := in.Request.(*smithyhttp.Request); ok {
		if body, ok := r.GetStream().(io.WriterTo); ok {
			plain, err := r.SetStream(plainBody(body))
			if err != nil {
				return middleware.DeserializeOutput{}, middleware.Metadata{}, err
			}
			in.Request = plain
		}
	}
	return next.HandleDeserialize(ctx, in)
}

// plainBody returns a body without its method WriteTo. It can be rewound if the body can.
func plainBody(body any) io.Reader {
	if seeker, ok := body.(io.ReadSeeker); ok {
		return struct{ io.ReadSeeker }{seeker}
	}
	return struct{ io.Reader }{body.(io.Reader)}
}
