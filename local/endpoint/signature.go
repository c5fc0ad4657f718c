package endpoint

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"sluice/local/iam"
)

// authError is the type of an error of authentication, as the services name it.
type authError string

// Errors of authentication.
const (
	unknownKey   authError = "UnrecognizedClientException"
	badSignature authError = "InvalidSignatureException"
	noSignature  authError = "MissingAuthenticationTokenException"
)

// Error returns the message in the words of AWS.
func (e authError) Error() string {
	switch e {
	case unknownKey:
		return "The security token included in the request is invalid."
	case badSignature:
		return "The request signature we calculated does not match the signature you provided."
	}
	return "Request is missing Authentication Token"
}

// maxSkew is the greatest difference between the time of a request and the server's clock.
const maxSkew = 15 * time.Minute

// signature holds the fields of the header Authorization, which has the form
// AWS4-HMAC-SHA256 Credential=ID/date/region/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=hex
type signature struct {
	keyID, region, service string
	signedHeaders          []string
}

// parseSignature reads the header Authorization. It returns false if the header has another form.
func parseSignature(authorization string) (signature, bool) {
	rest, found := strings.CutPrefix(authorization, "AWS4-HMAC-SHA256 ")
	var s signature
	for _, field := range strings.Split(rest, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(field), "="); name {
		case "Credential":
			scope := strings.Split(value, "/")
			if len(scope) != 5 {
				return signature{}, false
			}
			s.keyID, s.region, s.service = scope[0], scope[2], scope[3]
		case "SignedHeaders":
			s.signedHeaders = strings.Split(value, ";")
		}
	}
	return s, found && s.keyID != "" && s.signedHeaders != nil
}

// authenticator verifies the signatures of requests.
type authenticator struct {
	iam *iam.Service
	// signer caches the signing keys that it derives.
	signer *v4.Signer
	now    func() time.Time
}

// authenticate reads a request and returns the principal that signed it. It returns an authError if the request is not
// signed as it should be, and any other error if the body cannot be read. The body can be read again afterwards.
func (a *authenticator) authenticate(r *http.Request) (*iam.Principal, []byte, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	authorization := r.Header.Get("Authorization")
	s, ok := parseSignature(authorization)
	if !ok {
		return nil, nil, noSignature
	}
	principal, ok := a.iam.PrincipalByKey(s.keyID)
	if !ok {
		return nil, nil, unknownKey
	}
	signedAt, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if skew := a.now().Sub(signedAt); err != nil || skew.Abs() > maxSkew {
		return nil, nil, badSignature
	}
	want, err := a.sign(r, s, principal.Key(), body, signedAt)
	if err != nil || !hmac.Equal([]byte(want), []byte(authorization)) {
		return nil, nil, badSignature
	}
	return principal, body, nil
}

// sign returns the header Authorization that the owner of the key would have sent with the same request.
func (a *authenticator) sign(r *http.Request, s signature, key iam.Key, body []byte, at time.Time) (string, error) {
	address := *r.URL // a copy: the signer sorts its query
	copied := &http.Request{Method: r.Method, URL: &address, Host: r.Host, Header: http.Header{}}
	for _, name := range s.signedHeaders {
		switch name {
		case "host":
		case "content-length":
			copied.ContentLength = r.ContentLength
		default:
			copied.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(body)
	credentials := aws.Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret}
	// The signer uses the context for logging only.
	ctx := context.WithoutCancel(r.Context())
	err := a.signer.SignHTTP(ctx, credentials, copied, hex.EncodeToString(sum[:]), s.service, s.region, at)
	return copied.Header.Get("Authorization"), err
}

// maxBody is the largest size in bytes of a request to any of the services: the limit of DynamoDB.
const maxBody = 16 << 20

// readBody reads the body of a request, of which it returns at most one byte more than maxBody.
func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > maxBody {
		return io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}
