package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"sluice/openapi/wire"
)

// Tenant returns the ID of the tenant on whose behalf the client calls.
func (c *Client) Tenant() string { return strings.TrimPrefix(c.config.Scope, "tenant/") }

// ScreeningAnswer is what the adapter of a screening provider answers: docs/contract/screening.md, Adapters.
type ScreeningAnswer struct {
	wire.ScreeningAnswer
	// IV and MAC are those of the response.
	IV  string `json:"-"`
	MAC string `json:"-"`
}

const receptorPath = "/screeningreceptor/api/receptor"

// AnswerScreening delivers an answer to the receptor of the service.
func (c *Client) AnswerScreening(ctx context.Context, a ScreeningAnswer) error {
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	header := c.tenantHeader()
	if a.MAC != "" {
		header.Set("X-Encryption-Iv", a.IV)
		header.Set("X-Authentication-Mac", a.MAC)
	}
	var envelope struct{}
	return c.send(ctx, http.MethodPost, receptorPath, body, header, &envelope)
}

// UploadScreeningResponse uploads a response that is too large for AnswerScreening, and returns the ID of the upload.
func (c *Client) UploadScreeningResponse(ctx context.Context, response string) (uploadID string, err error) {
	body, err := json.Marshal(map[string]int{"contentLength": len(response)})
	if err != nil {
		return "", err
	}
	var envelope struct{ Data wire.ScreeningAnswerUpload }
	if err := c.send(ctx, http.MethodPost, receptorPath+"/upload-url", body, c.tenantHeader(), &envelope); err != nil {
		return "", err
	}
	to := Upload{URL: envelope.Data.SignedURL, RequiredHeaders: envelope.Data.RequiredHeaders}
	return envelope.Data.UploadID, c.UploadFile(ctx, to, strings.NewReader(response), int64(len(response)), nil)
}
