// Package webhookhttp serves the management of webhooks and their deliveries under /v1/webhooks
// (docs/contract/webhooks.md).
package webhookhttp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/connect/webhook"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/sealed"
)

// Webhooks answers the routes of webhooks and deliveries.
type Webhooks struct {
	Store webhook.Store
	// Secrets seals the secrets of webhooks.
	Secrets interface {
		Seal(ctx context.Context, tenant, purpose string, plaintext []byte) ([]byte, error)
	}
	// Dispatcher begins deliveries; see delivery.Dispatcher.
	Dispatcher interface {
		SendTest(ctx context.Context, w webhook.Webhook, id string) (webhook.Delivery, error)
		Resend(ctx context.Context, d webhook.Delivery) (webhook.Delivery, error)
	}
	Policy webhook.Policy
	Paging *platform.Paging
	Now    func() time.Time
	// NewID returns a new UUIDv7, for a webhook or a test.
	NewID func() (string, error)
	// NewSecret returns a random secret, for a webhook that is given none.
	NewSecret func() string
}

// Routes returns the routes of webhooks.
func (s *Webhooks) Routes() []httpapi.Route {
	const (
		all        = "/v1/webhooks"
		one        = all + "/{webhookId}"
		deliveries = one + "/deliveries"
		get, post  = http.MethodGet, http.MethodPost
	)
	read, edit := []string{permission.WebhookRead}, []string{permission.WebhookEdit}
	routes := []httpapi.Route{
		{Method: get, Path: all, Permissions: read, Endpoint: s.List},
		{Method: post, Path: all, Permissions: edit, Endpoint: s.Create},
		{Method: get, Path: one, Permissions: read, Endpoint: s.withWebhook(s.Get)},
		{Method: http.MethodPut, Path: one, Permissions: edit, Endpoint: s.withWebhook(s.Update)},
		{Method: http.MethodDelete, Path: one, Permissions: edit, Endpoint: s.withWebhook(s.Delete)},
		{Method: post, Path: one + "/test", Permissions: edit, Endpoint: s.withWebhook(s.Test)},
		{Method: post, Path: one + "/resend", Permissions: edit, Endpoint: s.withWebhook(s.ResendSince)},
		{Method: get, Path: deliveries, Permissions: read, Endpoint: s.withWebhook(s.Deliveries),
			Query: []string{"limit", "next", "outcome"}},
		{Method: get, Path: deliveries + "/{deliveryId}", Permissions: read, Endpoint: s.withWebhook(s.Delivery)},
		{Method: post, Path: deliveries + "/{deliveryId}/resend", Permissions: edit, Endpoint: s.withWebhook(s.Resend)},
	}
	for i, r := range routes {
		if r.Query == nil {
			routes[i].Query = httpapi.NoQuery
		}
		if strings.HasSuffix(r.Path, "/test") || strings.HasSuffix(r.Path, "/resend") {
			routes[i].ObjectLimit = ratelimit.WebhookSends
		}
	}
	return httpapi.WithLimit(ratelimit.Platform, routes...)
}

var (
	errNoWebhook  = fault.New(fault.NotFound, "webhook_not_found", "Webhook not found.")
	errNoDelivery = fault.New(fault.NotFound, "delivery_not_found", "Delivery not found.")
	errTooMany    = fault.Newf(fault.Conflict, "too_many_webhooks",
		"The tenant has %d webhooks, which is the most. Delete one first.", webhook.MaxPerTenant)
	errChanged = fault.New(fault.Conflict, "webhook_changed",
		"The webhook is being changed by others. Try again.")
	errDisabled = fault.New(fault.Conflict, "webhook_disabled",
		"The webhook is disabled: nothing is sent to it. Enable it first.")
)

// webhookEndpoint answers a request about a webhook of the caller's tenant.
type webhookEndpoint func(ctx context.Context, r *http.Request, w webhook.Webhook) (any, error)

// withWebhook makes an endpoint that finds the webhook of the path. Another tenant's webhook is not found.
func (s *Webhooks) withWebhook(f webhookEndpoint) httpapi.Endpoint {
	return func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
		id, err := pathUUID(r, "webhookId")
		if err != nil {
			return httpapi.Reply{}, err
		}
		w, err := s.Store.Get(ctx, c.Tenant, id)
		if errors.Is(err, webhook.ErrNotFound) {
			return httpapi.Reply{}, errNoWebhook
		}
		if err != nil {
			return httpapi.Reply{}, err
		}
		body, err := f(ctx, r, w)
		return httpapi.Reply{Body: body}, err
	}
}

// pathUUID returns a path parameter in lower case; it must be a UUID.
func pathUUID(r *http.Request, name string) (string, error) {
	value := r.PathValue(name)
	if !platform.IsUUID(value) {
		return "", fault.NewInvalid(fault.Detail{
			Source: fault.InPath, Path: []any{name}, Message: "The value must be a UUID.", Code: "uuid",
			AttemptedValue: httpapi.AttemptedText(value),
		})
	}
	return strings.ToLower(value), nil
}

// decode reads a body, which must be there and have no unknown keys.
func decode(r *http.Request, into any) error {
	body, err := httpapi.ReadBody(r)
	if err != nil {
		return err
	}
	if len(body.Text) == 0 {
		return fault.NewInvalid(fault.Detail{Source: fault.InBody, Message: "The body is missing.", Code: "missing"})
	}
	return body.Decode(into, "", json.RejectUnknownMembers(true))
}

// List returns all webhooks of the tenant.
func (s *Webhooks) List(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	webhooks, err := s.Store.List(ctx, c.Tenant)
	list := wire.Webhooks{WebHooks: make([]wire.Webhook, len(webhooks))}
	for i, w := range webhooks {
		list.WebHooks[i] = s.newReply(w)
	}
	return httpapi.Reply{Body: list}, err
}

// Create makes a webhook. If the request gives no secret the service makes one, which the reply shows this once.
func (s *Webhooks) Create(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	var in Request
	if err := decode(r, &in); err != nil {
		return httpapi.Reply{}, err
	}
	if in.Enabled == nil {
		enabled := true
		in.Enabled = &enabled
	}
	if err := in.check(); err != nil {
		return httpapi.Reply{}, err
	}
	id, err := s.NewID()
	if err != nil {
		return httpapi.Reply{}, err
	}
	now := s.Now()
	w := in.apply(webhook.Webhook{ID: id, Tenant: c.Tenant, CreatedAt: now, UpdatedAt: now, Version: 1})
	secret, made := text(in.Secret), ""
	if secret == "" {
		secret = s.NewSecret()
		made = secret
	}
	if w.Secret, err = s.Secrets.Seal(ctx, c.Tenant, sealed.Webhook, []byte(secret)); err != nil {
		return httpapi.Reply{}, err
	}
	if err := s.Store.Create(ctx, w); errors.Is(err, webhook.ErrTooMany) {
		return httpapi.Reply{}, errTooMany
	} else if err != nil {
		return httpapi.Reply{}, err
	}
	audit.AddObject(ctx, "webhookId", id)
	reply := s.newReply(w)
	reply.Secret = made
	return httpapi.Reply{Body: reply}, nil
}

// Get returns a webhook.
func (s *Webhooks) Get(_ context.Context, _ *http.Request, w webhook.Webhook) (any, error) {
	return s.newReply(w), nil
}

// maxSaves is how often a change is tried while others change the webhook.
const maxSaves = 5

// Update replaces the tenant's settings of a webhook. Enabling one that was disabled also ends its failure. A new
// secret signs beside the previous one for a day.
func (s *Webhooks) Update(ctx context.Context, r *http.Request, w webhook.Webhook) (any, error) {
	var in Request
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	var secret []byte
	if given := text(in.Secret); given != "" {
		var err error
		if secret, err = s.Secrets.Seal(ctx, w.Tenant, sealed.Webhook, []byte(given)); err != nil {
			return nil, err
		}
	}
	for range maxSaves {
		now := s.Now()
		changed := in.apply(w)
		changed.UpdatedAt = now
		if secret != nil {
			changed.ReplaceSecret(secret, now)
		}
		isEnabled := changed.Enabled && !w.Enabled
		if isEnabled {
			changed.Enable()
		}
		saved, err := s.Store.Save(ctx, changed, isEnabled)
		switch {
		case err == nil:
			return s.newReply(saved), nil
		case errors.Is(err, webhook.ErrNotFound):
			return nil, errNoWebhook
		case !errors.Is(err, webhook.ErrChanged):
			return nil, err
		}
		if w, err = s.Store.Get(ctx, w.Tenant, w.ID); errors.Is(err, webhook.ErrNotFound) {
			return nil, errNoWebhook
		} else if err != nil {
			return nil, err
		}
	}
	return nil, errChanged
}

// Delete removes a webhook. Its pending deliveries end.
func (s *Webhooks) Delete(ctx context.Context, _ *http.Request, w webhook.Webhook) (any, error) {
	if err := s.Store.Delete(ctx, w.Tenant, w.ID); errors.Is(err, webhook.ErrNotFound) {
		return nil, errNoWebhook
	} else if err != nil {
		return nil, err
	}
	return wire.DeletedWebhook{ID: w.ID}, nil
}
