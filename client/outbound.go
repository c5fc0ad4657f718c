package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// checkPath is the path on which receivers are looked at.
const checkPath = "/externalauthenticationquery/api/configuration/check"

// ReceiverCheck is what a receiver outside presents, and what the validation modes of external authentication make of
// it.
type ReceiverCheck struct {
	// Chain is what the receiver presents, its own certificate first; empty if it was not reached.
	Chain []CertificateDetails `json:"chain"`
	// Decisions has one for each mode.
	Decisions []CertificateDecision `json:"decisions"`
	// Reply is the data of the reply as it came.
	Reply json.RawMessage `json:"-"`
}

// CertificateDetails describes a certificate.
type CertificateDetails struct {
	// Subject and Issuer are distinguished names as in RFC 2253.
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
	// Serial and the thumbprints are in hexadecimal digits.
	Serial           string    `json:"serial"`
	NotBefore        time.Time `json:"notBefore"`
	NotAfter         time.Time `json:"notAfter"`
	ThumbprintSHA1   string    `json:"thumbprintSha1"`
	ThumbprintSHA256 string    `json:"thumbprintSha256"`
}

// CertificateDecision is what a validation mode decides.
type CertificateDecision struct {
	// Mode is PinLeafThumbprint or SignerChainValidationOnly.
	Mode     string `json:"mode"`
	Accepted bool   `json:"accepted"`
	// Reason says why, for people.
	Reason string `json:"reason"`
}

// CheckReceiver connects the service to a URL outside, sends no request there, and returns what the receiver presents
// and what each validation mode makes of it by the tenant's configuration. A URL that is never called is a 400 *Error.
func (c *Client) CheckReceiver(ctx context.Context, url string) (ReceiverCheck, error) {
	body, err := json.Marshal(map[string]any{"data": map[string]string{"url": url}})
	if err != nil {
		return ReceiverCheck{}, err
	}
	header := http.Header{"X-Tenant-Id": {strings.TrimPrefix(c.config.Scope, "tenant/")}}
	var envelope struct{ Data json.RawMessage }
	if err := c.send(ctx, http.MethodPost, checkPath, body, header, &envelope); err != nil {
		return ReceiverCheck{}, err
	}
	out := ReceiverCheck{Reply: envelope.Data}
	err = json.Unmarshal(envelope.Data, &out)
	return out, err
}
