package webhooktest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sluice/shared/connect/webhook"
)

type heldPlace struct {
	holder string
	until  time.Time
}

type offered struct {
	webhook.Offer
	until time.Time
}

func placeKey(p webhook.Place) string { return key(p.Group, fmt.Sprint(p.Number)) }

func offerKey(group string, o webhook.Offer) string {
	return key(group, o.Tenant, o.WebhookID, fmt.Sprint(o.Slot()))
}

// HoldPlace implements webhook.Store.
func (m *Memory) HoldPlace(_ context.Context, p webhook.Place, now, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if held, ok := m.places[placeKey(p)]; ok && held.holder != p.Holder && held.until.After(now) {
		return false, nil
	}
	m.places[placeKey(p)] = heldPlace{p.Holder, until}
	return true, nil
}

// LeavePlace implements webhook.Store.
func (m *Memory) LeavePlace(_ context.Context, p webhook.Place) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places[placeKey(p)].holder == p.Holder {
		delete(m.places, placeKey(p))
	}
	return nil
}

// Offer implements webhook.Store.
func (m *Memory) Offer(_ context.Context, group string, o webhook.Offer, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := offerKey(group, o)
	if earlier, ok := m.offers[k]; !ok || earlier.DeliveryID >= o.DeliveryID || !earlier.until.After(now) {
		m.offers[k] = offered{o, now.Add(webhook.OfferTime)}
	}
	return nil
}

// ListOffers implements webhook.Store.
func (m *Memory) ListOffers(_ context.Context, group string) ([]webhook.Offer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []webhook.Offer
	for k, o := range m.offers {
		if strings.HasPrefix(k, key(group, "")) {
			list = append(list, o.Offer)
		}
	}
	return list, nil
}

// RemoveOffer implements webhook.Store.
func (m *Memory) RemoveOffer(_ context.Context, group string, o webhook.Offer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.offers[offerKey(group, o)].Offer == o {
		delete(m.offers, offerKey(group, o))
	}
	return nil
}

// ClaimAttempt implements webhook.Store.
func (m *Memory) ClaimAttempt(_ context.Context, claimed webhook.Delivery, by string, now, until time.Time) error {
	_, err := m.changeDelivery(claimed.Tenant, claimed.WebhookID, claimed.ID, func(d *webhook.Delivery) error {
		if d.Run != claimed.Run || d.Outcome != webhook.Pending || d.AttemptCount != claimed.AttemptCount ||
			d.ClaimedBy != "" && d.ClaimedBy != by && d.ClaimedUntil.After(now) {
			return webhook.ErrChanged
		}
		d.ClaimedBy, d.ClaimedUntil = by, until.Truncate(time.Millisecond)
		return nil
	})
	return err
}
