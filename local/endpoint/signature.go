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

// Why a request is not let in, as the services name it.
const (
	unknownKey   = "UnrecognizedClientException"
	badSignature = "InvalidSignatureException"
	noSignature  = "MissingAuthenticationTokenException"
)

var because = map[string]string{
	unknownKey:   "The security token included in the request is invalid.",
	badSignature: "The request signature we calculated does not match the signature you provided.",
	noSignature:  "Request is missing Authentication Token",
}

// maxSkew is how far the time of a request may lie from ours.
const maxSkew = 15 * time.Minute

// signature is what the header Authorization says:
// AWS4-HMAC-SHA256 Credential=ID/date/region/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=hex
type signature struct {
	id, region, service string
	headers             []string
}

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
			s.id, s.region, s.service = scope[0], scope[2], scope[3]
		case "SignedHeaders":
			s.headers = strings.Split(value, ";")
		}
	}
	return s, found && s.id != "" && s.headers != nil
}

// gate lets signed requests in.
type gate struct {
	iam    *iam.Service
	signer *v4.Signer // remembers the keys that it has derived
	now    func() time.Time
}

// open reads a request and returns who has signed it; refused names why it is not let in. The body can be read again.
func (g *gate) open(r *http.Request) (who *iam.Principal, body []byte, refused string, err error) {
	if body, err = read(r); err != nil {
		return nil, nil, "", err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	authorization := r.Header.Get("Authorization")
	s, ok := parseSignature(authorization)
	if !ok {
		return nil, nil, noSignature, nil
	}
	if who, ok = g.iam.ByKey(s.id); !ok {
		return nil, nil, unknownKey, nil
	}
	signedAt, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if skew := g.now().Sub(signedAt); err != nil || skew.Abs() > maxSkew {
		return nil, nil, badSignature, nil
	}
	want, err := g.sign(r, s, who.Key(), body, signedAt)
	if err != nil || !hmac.Equal([]byte(want), []byte(authorization)) {
		return nil, nil, badSignature, nil
	}
	return who, body, "", nil
}

// sign is the header that the owner of the key would have made for the same request.
func (g *gate) sign(r *http.Request, s signature, key iam.Key, body []byte, at time.Time) (string, error) {
	address := *r.URL // the signer puts its query in order
	again := &http.Request{Method: r.Method, URL: &address, Host: r.Host, Header: http.Header{}}
	for _, name := range s.headers {
		switch name {
		case "host":
		case "content-length":
			again.ContentLength = r.ContentLength
		default:
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(body)
	credentials := aws.Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret}
	// The context is only for the signer's log.
	err := g.signer.SignHTTP(context.WithoutCancel(r.Context()), credentials, again, hex.EncodeToString(sum[:]), s.service, s.region, at)
	return again.Header.Get("Authorization"), err
}

// largest is the most bytes of a request to any of the services: DynamoDB's.
const largest = 16 << 20

func read(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > largest {
		return io.ReadAll(io.LimitReader(r.Body, largest+1))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}
