package webhookdb_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestPlaces(t *testing.T) { forEachStore(t, testPlaces) }

// A place has one holder, until it leaves or its time is over.
func testPlaces(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	hold := func(group string, number int, holder string, seconds int, want bool) {
		t.Helper()
		now := at.Add(time.Duration(seconds) * time.Second)
		p := webhook.Place{Group: group, Number: number, Holder: holder}
		got, err := s.HoldPlace(ctx, p, now, now.Add(10*time.Second))
		errtest.Fatal(t, err)
		difftest.Equal(t, fmt.Sprintf("%s holds %s/%d after %d s", holder, group, number, seconds), want, got)
	}
	hold("g", 0, "a", 0, true)
	hold("g", 0, "b", 9, false)
	hold("g", 1, "b", 9, true)
	hold("other", 0, "b", 9, true)
	hold("g", 0, "a", 9, true)
	hold("g", 0, "b", 18, false)
	hold("g", 0, "b", 19, true)
	hold("g", 0, "a", 20, false)
	errtest.Fatal(t, s.LeavePlace(ctx, webhook.Place{Group: "g", Number: 0, Holder: "a"})) // it holds none
	hold("g", 0, "a", 20, false)
	for range 2 {
		errtest.Fatal(t, s.LeavePlace(ctx, webhook.Place{Group: "g", Number: 0, Holder: "b"}))
	}
	hold("g", 0, "a", 20, true)

	var holders atomic.Int64
	var g errgroup.Group
	for i := range 20 {
		g.Go(func() error {
			p := webhook.Place{Group: "g", Number: 2, Holder: fmt.Sprint(i)}
			ok, err := s.HoldPlace(ctx, p, at, at.Add(time.Second))
			if ok {
				holders.Add(1)
			}
			return err
		})
	}
	errtest.Fatal(t, g.Wait())
	difftest.Equal(t, "holders of one place", int64(1), holders.Load())
}

func TestOffers(t *testing.T) { forEachStore(t, testOffers) }

// A webhook offers its earliest deliveries, one in each slot.
func testOffers(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	offer := func(webhookID, delivery string) webhook.Offer {
		return webhook.Offer{Tenant: tenant, WebhookID: webhookID, DeliveryID: delivery, Run: 1}
	}
	later := at.Add(webhook.OfferTime)
	expect := func(doing string, want ...webhook.Offer) {
		t.Helper()
		got := errtest.Must(s.ListOffers(ctx, "g"))(t)
		slices.SortFunc(got, func(a, b webhook.Offer) int {
			return strings.Compare(a.WebhookID+a.DeliveryID, b.WebhookID+b.DeliveryID)
		})
		difftest.Equal(t, doing, want, got)
	}
	first, second, otherSlot, otherWebhook := offer("w1", "10"), offer("w1", "20"), offer("w1", "21"), offer("w2", "20")
	for _, o := range []webhook.Offer{second, first, second, otherSlot, otherWebhook} {
		errtest.Fatal(t, s.Offer(ctx, "g", o, at))
	}
	errtest.Fatal(t, s.Offer(ctx, "g2", first, at))
	expect("the earliest of each slot", first, otherSlot, otherWebhook)
	errtest.Fatal(t, s.RemoveOffer(ctx, "g", second)) // which is not offered
	errtest.Fatal(t, s.Offer(ctx, "g", second, later.Add(-time.Second)))
	expect("just before the offers expire", first, otherSlot, otherWebhook)
	errtest.Fatal(t, s.Offer(ctx, "g", second, later))
	expect("when the first has expired", second, otherSlot, otherWebhook)
	next := second
	next.Run = 2
	errtest.Fatal(t, s.Offer(ctx, "g", next, later))
	errtest.Fatal(t, s.RemoveOffer(ctx, "g", second)) // of an earlier run
	expect("the next run", next, otherSlot, otherWebhook)
	for range 2 {
		errtest.Fatal(t, s.RemoveOffer(ctx, "g", next))
	}
	expect("when one is removed", otherSlot, otherWebhook)
}

func TestClaims(t *testing.T) { forEachStore(t, testClaims) }

// An attempt is claimed by one at a time, until its claim ends or the attempt is recorded.
func testClaims(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	d := newDelivery(t, single(newWebhook("w1")), "e1", 0)
	errtest.Fatal(t, errtest.Of(s.CreateDelivery(ctx, d)))
	claim := func(d webhook.Delivery, by string, seconds int) error {
		now := at.Add(time.Duration(seconds) * time.Second)
		return s.ClaimAttempt(ctx, d, by, now, now.Add(20*time.Second))
	}
	errtest.Fatal(t, claim(d, "a", 0))
	claimed := mustGet(t, s, d)
	difftest.Equal(t, "claimed", []any{"a", at.Add(20 * time.Second)}, []any{claimed.ClaimedBy, claimed.ClaimedUntil})
	errtest.Is(t, "by another one", claim(d, "b", 19), webhook.ErrChanged)
	errtest.Fatal(t, claim(d, "a", 19))
	errtest.Is(t, "after it was claimed for longer", claim(d, "b", 38), webhook.ErrChanged)
	errtest.Fatal(t, claim(d, "b", 39))

	failed := d
	failed.Attempts = []webhook.Attempt{{Number: 1, At: at, Outcome: webhook.Failed}}
	failed.AttemptCount = 1
	errtest.Fatal(t, s.SaveAttempt(ctx, failed))
	difftest.Equal(t, "claimed after the attempt", "", mustGet(t, s, d).ClaimedBy)
	errtest.Is(t, "the attempt that was recorded", claim(d, "b", 40), webhook.ErrChanged)
	errtest.Fatal(t, claim(failed, "a", 40))
	next := errtest.Must(s.BeginRun(ctx, tenant, "w1", d.ID, 2, at))(t)
	difftest.Equal(t, "claimed in the next run", "", next.ClaimedBy)
	errtest.Is(t, "of an earlier run", claim(failed, "a", 41), webhook.ErrChanged)
	errtest.Fatal(t, claim(next, "b", 41))
	next.Outcome, next.EndedAt = webhook.Failed, at
	errtest.Fatal(t, s.EndDelivery(ctx, next))
	errtest.Is(t, "one that has ended", claim(next, "b", 42), webhook.ErrChanged)
}
