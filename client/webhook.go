package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/openapi/wire"
)

// webhooksPath is the path of webhooks.
const webhooksPath = "/v1/webhooks"

// WebhookSettings are what a tenant sets of a webhook. A change replaces all of them, but the secret if it is "".
type WebhookSettings struct {
	// URL begins with https://.
	URL     string `json:"url"`
	Enabled bool   `json:"enabled"`
	// EventTypes are types of events, or "*" alone.
	EventTypes []string `json:"eventTypes"`
	Name       string   `json:"name"`
	// Secret signs deliveries. If a creation has none, the service makes one.
	Secret         string   `json:"secret,omitempty"`
	EmailAddresses []string `json:"emailAddresses"`
	// Type is Single or Batch.
	Type string `json:"type"`
	// BatchSize is between 10 and 100.
	BatchSize int `json:"batchSize"`
}

// Webhook is an address to which the service delivers events.
type Webhook struct {
	ID string `json:"id"`
	// WebhookSettings has a Secret only if the service has just made it.
	WebhookSettings
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// PreviousSecretUntil is until when a secret that was replaced signs, too; nil if none does.
	PreviousSecretUntil *time.Time `json:"previousSecretUntil"`
	// FailingSince is when the first attempt failed after the last success, DisablesAt when giving up a delivery
	// disables the webhook, DisabledAt when the service has. They are nil where they do not apply.
	FailingSince *time.Time `json:"failingSince"`
	DisablesAt   *time.Time `json:"disablesAt"`
	DisabledAt   *time.Time `json:"disabledAt"`
	// DisabledReason is gone or failing; "" if the service has not disabled the webhook.
	DisabledReason string `json:"disabledReason"`
	// Reply is the reply as it came; nil for one of a list.
	Reply json.RawMessage `json:"-"`
}

func (w *Webhook) keepReply(_ int, text []byte) { w.Reply = text }

// Delivery is a message, or several, on the way to a webhook.
type Delivery struct {
	ID        string          `json:"id"`
	WebhookID string          `json:"webhookId"`
	Type      string          `json:"type"`
	Events    []DeliveryEvent `json:"events"`
	// Outcome is Successful, Failed or TimedOut, and "" while the delivery is pending.
	Outcome string `json:"outcome"`
	// Code and Message say why the delivery has not succeeded; "" otherwise.
	Code          string            `json:"code"`
	Message       string            `json:"message"`
	CreatedAt     time.Time         `json:"createdAt"`
	EndedAt       *time.Time        `json:"endedAt"`
	NextAttemptAt *time.Time        `json:"nextAttemptAt"`
	Run           int               `json:"run"`
	AttemptCount  int               `json:"attemptCount"`
	Attempts      []DeliveryAttempt `json:"attempts"`
	// Payload is what is sent.
	Payload json.RawMessage `json:"payload"`
	// Reply is the reply as it came; nil for one of a list.
	Reply json.RawMessage `json:"-"`
}

func (d *Delivery) keepReply(_ int, text []byte) { d.Reply = text }

// DeliveryEvent names an event of a delivery.
type DeliveryEvent = wire.DeliveryEvent

// DeliveryAttempt is one try to deliver. Status is 0 and Answer "" if there was no answer.
type DeliveryAttempt struct {
	Number       int       `json:"number"`
	At           time.Time `json:"at"`
	Milliseconds int64     `json:"milliseconds"`
	Outcome      string    `json:"outcome"`
	Code         string    `json:"code"`
	Message      string    `json:"message"`
	Status       int       `json:"status"`
	Answer       string    `json:"answer"`
}

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
	body, err := json.Marshal(map[string]any{"data": map[string]any{
		"url": address, "endpointCertificate": map[string]any{"isPublicCA": false, "certificate": certificate},
	}})
	if err != nil {
		return "", err
	}
	var envelope struct {
		Data struct {
			ConfigurationID string `json:"configurationId"`
		} `json:"data"`
	}
	err = c.send(ctx, http.MethodPost, configurationPath, body, c.tenantHeader(), &envelope)
	return envelope.Data.ConfigurationID, err
}

// DistrustReceiver removes the configuration that TrustReceiver has made.
func (c *Client) DistrustReceiver(ctx context.Context, configurationID string) error {
	query := url.Values{"configurationId": {configurationID}}
	var envelope struct{}
	return c.send(ctx, http.MethodDelete, configurationPath+"?"+query.Encode(), nil, c.tenantHeader(), &envelope)
}

const configurationPath = "/externalauthenticationcommand/api/configuration"

// tenantHeader is what calls of platform paths have beside a token.
func (c *Client) tenantHeader() http.Header {
	return http.Header{"X-Tenant-Id": {strings.TrimPrefix(c.config.Scope, "tenant/")}}
}
