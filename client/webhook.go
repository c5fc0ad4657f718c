package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/openapi/wire"
)

// webhooksPath is the path of webhooks.
const webhooksPath = "/v1/webhooks"

// WebhookSettings are what a tenant sets of a webhook. A change replaces all of them, but the secret if it is "". If a
// creation has no secret, the service makes one.
type WebhookSettings = wire.UpdateWebhook

// Webhook is an address to which the service delivers events.
type Webhook struct {
	wire.Webhook
	Original
}

// Settings returns what the tenant has set of the webhook, but for its secret.
func (w Webhook) Settings() WebhookSettings {
	return WebhookSettings{URL: w.URL, Enabled: w.Enabled, EventTypes: w.EventTypes, Name: w.Name,
		EmailAddresses: w.EmailAddresses, Type: w.Type, BatchSize: w.BatchSize}
}

// Delivery is a message, or several, on the way to a webhook.
type Delivery struct {
	wire.Delivery
	Original
}

// DeliveryEvent names an event of a delivery.
type DeliveryEvent = wire.DeliveryEvent

// DeliveryAttempt is one try to deliver.
type DeliveryAttempt = wire.Attempt

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

// Webhooks returns all webhooks of the tenant.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	var list struct {
		WebHooks []Webhook `json:"webHooks"`
	}
	err := c.call(ctx, http.MethodGet, webhooksPath, nil, &list)
	return list.WebHooks, err
}

// CreateWebhook makes a webhook. It is not repeated after an answer that was lost: list the webhooks then.
func (c *Client) CreateWebhook(ctx context.Context, s WebhookSettings) (Webhook, error) {
	var out Webhook
	err := c.call(ctx, http.MethodPost, webhooksPath, s, &out)
	return out, err
}

// Webhook returns a webhook.
func (c *Client) Webhook(ctx context.Context, id string) (Webhook, error) {
	var out Webhook
	err := c.call(ctx, http.MethodGet, webhookPath(id), nil, &out)
	return out, err
}

// UpdateWebhook replaces what is set of a webhook. A new secret and the one before both sign for 24 hours.
func (c *Client) UpdateWebhook(ctx context.Context, id string, s WebhookSettings) (Webhook, error) {
	var out Webhook
	err := c.call(ctx, http.MethodPut, webhookPath(id), s, &out)
	return out, err
}

// DeleteWebhook removes a webhook. Its pending deliveries end.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	var out struct{ ID string }
	return c.call(ctx, http.MethodDelete, webhookPath(id), nil, &out)
}

// TestWebhook has a test message delivered to a webhook, once. The delivery is pending; see Delivery.
func (c *Client) TestWebhook(ctx context.Context, id string) (Delivery, error) {
	var out Delivery
	err := c.call(ctx, http.MethodPost, webhookPath(id)+"/test", nil, &out)
	return out, err
}

// Deliveries returns a page of up to limit deliveries of a webhook, newest first, those with an outcome (Pending,
// Successful, Failed, TimedOut) or all. next, "" for the first page, is what the previous page returned, and "" again
// at the end. A page can be short before that.
func (c *Client) Deliveries(ctx context.Context, webhookID, outcome string, limit int, next string) (
	page []Delivery, nextPage string, err error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, value := range map[string]string{"outcome": outcome, "next": next} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var list struct {
		Deliveries []Delivery `json:"deliveries"`
		Next       string     `json:"next"`
	}
	err = c.call(ctx, http.MethodGet, webhookPath(webhookID)+"/deliveries?"+query.Encode(), nil, &list)
	return list.Deliveries, list.Next, err
}

// Delivery returns a delivery of a webhook.
func (c *Client) Delivery(ctx context.Context, webhookID, id string) (Delivery, error) {
	var out Delivery
	err := c.call(ctx, http.MethodGet, webhookPath(webhookID)+"/deliveries/"+url.PathEscape(id), nil, &out)
	return out, err
}

// ResendDelivery sends a delivery again, whatever its outcome.
func (c *Client) ResendDelivery(ctx context.Context, webhookID, id string) (Delivery, error) {
	var out Delivery
	err := c.call(ctx, http.MethodPost, webhookPath(webhookID)+"/deliveries/"+url.PathEscape(id)+"/resend", nil, &out)
	return out, err
}

// ResendSince sends again the deliveries of events since a time that have one of the given outcomes; without any, those
// that were given up. It returns how many there were, also beside an error.
func (c *Client) ResendSince(ctx context.Context, webhookID string, since time.Time, outcomes ...string) (int, error) {
	in, total := wire.Resend{Since: since, Outcomes: outcomes}, 0
	for {
		var out struct {
			Resent int    `json:"resent"`
			Next   string `json:"next"`
		}
		if err := c.call(ctx, http.MethodPost, webhookPath(webhookID)+"/resend", in, &out); err != nil {
			return total, err
		}
		total += out.Resent
		if in.Next = out.Next; in.Next == "" {
			return total, nil
		}
	}
}

// TrustReceiver tells the service which certificate, in PEM, the receivers below a URL have, and returns the ID of the
// configuration of external authentication that says so.
func (c *Client) TrustReceiver(ctx context.Context, address, certificate string) (string, error) {
	in := map[string]any{
		"url": address, "endpointCertificate": map[string]any{"isPublicCA": false, "certificate": certificate},
	}
	var out wire.ExternalAuthenticationID
	err := c.platform(ctx, http.MethodPost, configurationPath, in, &out)
	return out.ConfigurationID, err
}

// DistrustReceiver removes the configuration that TrustReceiver has made.
func (c *Client) DistrustReceiver(ctx context.Context, configurationID string) error {
	query := url.Values{"configurationId": {configurationID}}
	return c.platform(ctx, http.MethodDelete, configurationPath+"?"+query.Encode(), nil, nil)
}

const configurationPath = "/externalauthenticationcommand/api/configuration"

// tenantHeader is what calls of platform paths have beside a token.
func (c *Client) tenantHeader() http.Header {
	return http.Header{"X-Tenant-Id": {strings.TrimPrefix(c.config.Scope, "tenant/")}}
}
