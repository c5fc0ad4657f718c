package client

import (
	"context"
	"net/http"

	"sluice/openapi/wire"
)

// checkPath is the path on which receivers are looked at.
const checkPath = "/externalauthenticationquery/api/configuration/check"

// ReceiverCheck is what a receiver outside presents, and what the validation modes of external authentication make of
// it.
type ReceiverCheck struct {
	wire.PresentedCertificates
	Original
}

// CertificateDetails describes a certificate.
type CertificateDetails = wire.CertificateDetails

// CertificateDecision is what a validation mode decides.
type CertificateDecision = wire.CertificateDecision

// CheckReceiver connects the service to a URL outside, sends no request there, and returns what the receiver presents
// and what each validation mode makes of it by the tenant's configuration. A URL that is never called is a 400 *Error.
func (c *Client) CheckReceiver(ctx context.Context, url string) (ReceiverCheck, error) {
	var out ReceiverCheck
	err := c.platform(ctx, http.MethodPost, checkPath, wire.CheckedURL{URL: url}, &out)
	return out, err
}
