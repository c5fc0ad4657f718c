package awsconfig

import (
	"context"
	"io"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

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
