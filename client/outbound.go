package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"sluice/openapi/wire"
)

// checkPath is the path on which receivers are looked at.
const checkPath = "/externalauthenticationquery/api/configuration/check"

// ReceiverCheck is what a receiver outside presents, and what the validation modes of external authentication make of
// it.
type ReceiverCheck struct {
	wire.PresentedCertificates
	// Reply is the service's reply, byte for byte. It may have fields that this type does not.
	Reply json.RawMessage `json:"-"`
}

// CertificateDetails describes a certificate.
type CertificateDetails = wire.CertificateDetails

// CertificateDecision is what a validation mode decides.
type CertificateDecision = wire.CertificateDecision

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
