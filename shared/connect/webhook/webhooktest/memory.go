// Package webhooktest has a store of webhooks in memory, for tests that need many deliveries. The tests of webhookdb
// hold it to the behaviour of the one on DynamoDB.
package webhooktest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/shared/connect/webhook"
)

// Memory is a webhook.Store in memory.
type Memory struct {
	mu         sync.Mutex
	webhooks   map[string]webhook.Webhook
	deliveries map[string]webhook.Delivery
	// collected has the delivery of each event of the type Batch.
	collected map[string]string
	places    map[string]heldPlace
	offers    map[string]offered
}

var _ webhook.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		webhooks: map[string]webhook.Webhook{}, deliveries: map[string]webhook.Delivery{},
		collected: map[string]string{}, places: map[string]heldPlace{}, offers: map[string]offered{},
	}
}

func key(parts ...string) string { return strings.Join(parts, "#") }

func clone(d webhook.Delivery) webhook.Delivery {
	d.Messages, d.Attempts = slices.Clone(d.Messages), append([]webhook.Attempt{}, d.Attempts...)
	return d
}

// Create implements webhook.Store.
func (m *Memory) Create(_ context.Context, w webhook.Webhook) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, exists := m.webhooks[key(w.Tenant, w.ID)]; exists {
		return nil
	}
	if len(m.list(w.Tenant)) == webhook.MaxPerTenant {
		return webhook.ErrTooMany
	}
	w.Version = 1
	m.webhooks[key(w.Tenant, w.ID)] = w
	return nil
}

// Get implements webhook.Store.
func (m *Memory) Get(_ context.Context, tenant, id string) (webhook.Webhook, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.webhooks[key(tenant, id)]
	if !ok {
		return webhook.Webhook{}, webhook.ErrNotFound
	}
	return w, nil
}

// List implements webhook.Store.
func (m *Memory) List(_ context.Context, tenant string) ([]webhook.Webhook, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list(tenant), nil
}

func (m *Memory) list(tenant string) []webhook.Webhook {
	var list []webhook.Webhook
	for _, w := range m.webhooks {
		if w.Tenant == tenant {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b webhook.Webhook) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// change changes a webhook that exists.
func (m *Memory) change(tenant, id string, f func(w *webhook.Webhook) error) (webhook.Webhook, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.webhooks[key(tenant, id)]
	if !ok {
		return webhook.Webhook{}, webhook.ErrNotFound
	}
	if err := f(&w); err != nil {
		return webhook.Webhook{}, err
	}
	m.webhooks[key(tenant, id)] = w
	return w, nil
}

// Save implements webhook.Store.
func (m *Memory) Save(_ context.Context, changed webhook.Webhook, resetHealth bool) (webhook.Webhook, error) {
	return m.change(changed.Tenant, changed.ID, func(w *webhook.Webhook) error {
		if w.Version != changed.Version {
			return webhook.ErrChanged
		}
		health, open := w.Health, w.OpenDelivery
		*w = changed
		w.Version++
		w.Health, w.OpenDelivery = health, open
		if resetHealth {
			w.Health = webhook.Health{}
		}
		return nil
	})
}

// Delete implements webhook.Store.
func (m *Memory) Delete(_ context.Context, tenant, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.webhooks[key(tenant, id)]; !ok {
		return webhook.ErrNotFound
	}
	delete(m.webhooks, key(tenant, id))
	return nil
}

// MarkFailing implements webhook.Store.
func (m *Memory) MarkFailing(_ context.Context, tenant, id string, at time.Time, givenUp bool) (webhook.Health, error) {
	w, err := m.change(tenant, id, func(w *webhook.Webhook) error {
		setIfZero(&w.Health.FailingSince, at)
		if givenUp {
			setIfZero(&w.Health.GivenUpSince, at)
		}
		return nil
	})
	return w.Health, err
}

func setIfZero(t *time.Time, at time.Time) {
	if t.IsZero() {
		*t = at
	}
}

// MarkRecovered implements webhook.Store.
func (m *Memory) MarkRecovered(_ context.Context, tenant, id string, failingSince, at time.Time) (
	webhook.Health, bool, error) {
	w, err := m.change(tenant, id, func(w *webhook.Webhook) error {
		if !w.Health.FailingSince.Equal(failingSince) {
			return webhook.ErrChanged
		}
		setIfZero(&w.Health.RecoveredAt, at)
		return nil
	})
	return w.Health, err == nil, nil
}

// MarkWorking implements webhook.Store.
func (m *Memory) MarkWorking(_ context.Context, tenant, id string, failingSince time.Time) error {
	_, _ = m.change(tenant, id, func(w *webhook.Webhook) error {
		if w.Health.FailingSince.Equal(failingSince) {
			w.Health.FailingSince, w.Health.GivenUpSince, w.Health.RecoveredAt = time.Time{}, time.Time{}, time.Time{}
		}
		return nil
	})
	return nil
}

// Disable implements webhook.Store.
func (m *Memory) Disable(_ context.Context, tenant, id, reason string, at time.Time) (webhook.Webhook, error) {
	return m.change(tenant, id, func(w *webhook.Webhook) error {
		if w.Enabled {
			w.Enabled, w.Health.DisabledAt, w.Health.DisabledReason = false, at, reason
			w.Version++
		}
		return nil
	})
}

// CreateDelivery implements webhook.Store.
func (m *Memory) CreateDelivery(_ context.Context, d webhook.Delivery) (webhook.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := key(d.Tenant, d.WebhookID, d.ID)
	if _, exists := m.deliveries[k]; !exists {
		m.deliveries[k] = clone(d)
	}
	return clone(m.deliveries[k]), nil
}

// Collect implements webhook.Store.
func (m *Memory) Collect(_ context.Context, w webhook.Webhook, d webhook.Delivery) (webhook.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	current, ok := m.webhooks[key(w.Tenant, w.ID)]
	if !ok {
		return webhook.Delivery{}, webhook.ErrNotFound
	}
	message := d.Messages[0]
	event := key(w.Tenant, w.ID, message.ID)
	if id, ok := m.collected[event]; ok {
		return clone(m.deliveries[key(w.Tenant, w.ID, id)]), nil
	}
	open, ok := m.deliveries[key(w.Tenant, w.ID, current.OpenDelivery)]
	if ok && open.CanCollect(len(message.Text), w.BatchSize) {
		open = clone(open)
		open.Messages = append(open.Messages, message)
		d = open
	}
	m.deliveries[key(w.Tenant, w.ID, d.ID)] = clone(d)
	m.collected[event], current.OpenDelivery = d.ID, d.ID
	m.webhooks[key(w.Tenant, w.ID)] = current
	return clone(d), nil
}

// changeDelivery changes a delivery that exists, unless f returns an error.
func (m *Memory) changeDelivery(tenant, webhookID, id string, f func(d *webhook.Delivery) error) (webhook.Delivery,
	error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.deliveries[key(tenant, webhookID, id)]
	if !ok {
		return webhook.Delivery{}, webhook.ErrNotFound
	}
	d = clone(d)
	if err := f(&d); err != nil {
		return webhook.Delivery{}, err
	}
	m.deliveries[key(tenant, webhookID, id)] = d
	return clone(d), nil
}

// StopCollecting implements webhook.Store.
func (m *Memory) StopCollecting(_ context.Context, d webhook.Delivery, run int, at time.Time) (webhook.Delivery,
	error) {
	return m.changeDelivery(d.Tenant, d.WebhookID, d.ID, func(d *webhook.Delivery) error {
		if d.IsOpen && d.Run <= run {
			d.IsOpen, d.Run, d.RunAt = false, run, at
		}
		return nil
	})
}

// GetDelivery implements webhook.Store.
func (m *Memory) GetDelivery(_ context.Context, tenant, webhookID, id string) (webhook.Delivery, error) {
	return m.changeDelivery(tenant, webhookID, id, func(*webhook.Delivery) error { return nil })
}

// ListDeliveries implements webhook.Store.
func (m *Memory) ListDeliveries(_ context.Context, tenant, webhookID, after string, limit int) (
	[]webhook.Delivery, string, error) {
	all := m.listDeliveries(tenant, webhookID, func(d webhook.Delivery) bool { return after == "" || d.ID < after })
	slices.Reverse(all)
	if len(all) <= limit {
		return all, "", nil
	}
	return all[:limit], all[limit-1].ID, nil
}

// ListDeliveriesSince implements webhook.Store.
func (m *Memory) ListDeliveriesSince(_ context.Context, tenant, webhookID, from string, limit int) (
	[]webhook.Delivery, string, error) {
	all := m.listDeliveries(tenant, webhookID, func(d webhook.Delivery) bool { return d.ID >= from })
	if len(all) <= limit {
		return all, "", nil
	}
	return all[:limit], all[limit].ID, nil
}

// listDeliveries returns the deliveries of a webhook that are wanted, oldest first.
func (m *Memory) listDeliveries(tenant, webhookID string, isWanted func(webhook.Delivery) bool) []webhook.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []webhook.Delivery{}
	for _, d := range m.deliveries {
		if d.Tenant == tenant && d.WebhookID == webhookID && isWanted(d) {
			list = append(list, clone(d))
		}
	}
	slices.SortFunc(list, func(a, b webhook.Delivery) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// SaveAttempt implements webhook.Store.
func (m *Memory) SaveAttempt(_ context.Context, saved webhook.Delivery) error {
	_, err := m.changeDelivery(saved.Tenant, saved.WebhookID, saved.ID, func(d *webhook.Delivery) error {
		if d.Run != saved.Run || d.Outcome != webhook.Pending || d.AttemptCount != saved.CountBefore() {
			return webhook.ErrChanged
		}
		d.Attempts, d.AttemptCount = saved.Attempts, saved.AttemptCount
		d.ClaimedBy, d.ClaimedUntil = "", time.Time{}
		d.Outcome, d.Code, d.EndedAt, d.NextAttemptAt = saved.Outcome, saved.Code, saved.EndedAt, saved.NextAttemptAt
		return nil
	})
	return err
}

// EndDelivery implements webhook.Store.
func (m *Memory) EndDelivery(_ context.Context, ended webhook.Delivery) error {
	_, err := m.changeDelivery(ended.Tenant, ended.WebhookID, ended.ID, func(d *webhook.Delivery) error {
		if d.Run != ended.Run || d.Outcome != webhook.Pending {
			return webhook.ErrChanged
		}
		d.Outcome, d.Code, d.EndedAt, d.NextAttemptAt, d.IsOpen = ended.Outcome, ended.Code, ended.EndedAt, time.Time{},
			false
		return nil
	})
	return err
}

// BeginRun implements webhook.Store.
func (m *Memory) BeginRun(_ context.Context, tenant, webhookID, id string, run int, at time.Time) (webhook.Delivery,
	error) {
	return m.changeDelivery(tenant, webhookID, id, func(d *webhook.Delivery) error {
		if d.Run < run {
			d.Run, d.RunAt, d.IsOpen = run, at, false
			d.Outcome, d.Code, d.EndedAt, d.NextAttemptAt = webhook.Pending, "", time.Time{}, time.Time{}
			d.ClaimedBy, d.ClaimedUntil = "", time.Time{}
		}
		return nil
	})
}
