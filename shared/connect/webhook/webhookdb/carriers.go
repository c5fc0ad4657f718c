package webhookdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/dynamo"
)

const offerPrefix = "offer#"

func groupOwner(group string) string { return "calls#" + group }

func placeKey(p webhook.Place) dynamo.Item {
	return dynamo.Key(groupOwner(p.Group), fmt.Sprint("place#", p.Number))
}

// HoldPlace implements webhook.Store. until is in milliseconds since 1970.
func (s *Store) HoldPlace(ctx context.Context, p webhook.Place, now, until time.Time) (ok bool, err error) {
	err = s.table.Apply(ctx, "hold place", s.table.Update(placeKey(p), "SET holder = :holder, #until = :until",
		"attribute_not_exists(holder) OR holder = :holder OR #until <= :now", dynamo.Item{
			":holder": dynamo.String(p.Holder), ":until": dynamo.Number(until.UnixMilli()),
			":now": dynamo.Number(now.UnixMilli()),
		}))
	if errors.Is(err, dynamo.ErrRefused) {
		return false, nil
	}
	return err == nil, err
}

// LeavePlace implements webhook.Store.
func (s *Store) LeavePlace(ctx context.Context, p webhook.Place) error {
	return s.table.Apply(ctx, "leave place", s.table.Delete(placeKey(p), "holder = :holder",
		dynamo.Item{":holder": dynamo.String(p.Holder)}).Or(nil))
}

// offerRow is an offer as it is stored.
type offerRow struct {
	Owner    string `dynamodbav:"owner"`
	Part     string `dynamodbav:"part"`
	Tenant   string `dynamodbav:"tenant"`
	Webhook  string `dynamodbav:"webhook"`
	Delivery string `dynamodbav:"delivery"`
	Run      int    `dynamodbav:"run"`
	// Expires is when another delivery may be offered in its place, in seconds since 1970.
	Expires int64 `dynamodbav:"expires"`
}

func offerPart(o webhook.Offer) string {
	return fmt.Sprintf("%s%s#%s#%d", offerPrefix, o.Tenant, o.WebhookID, o.Slot())
}

// Offer implements webhook.Store.
func (s *Store) Offer(ctx context.Context, group string, o webhook.Offer, now time.Time) error {
	item, err := attributevalue.MarshalMap(offerRow{
		Owner: groupOwner(group), Part: offerPart(o), Tenant: o.Tenant, Webhook: o.WebhookID, Delivery: o.DeliveryID,
		Run: o.Run, Expires: now.Add(webhook.OfferTime).Unix(),
	})
	if err != nil {
		return fmt.Errorf("offer delivery: %w", err)
	}
	return s.table.Apply(ctx, "offer delivery", s.table.Put(item,
		"attribute_not_exists(delivery) OR delivery >= :delivery OR expires <= :now",
		dynamo.Item{":delivery": item["delivery"], ":now": dynamo.Number(now.Unix())}).Or(nil))
}

// ListOffers implements webhook.Store.
func (s *Store) ListOffers(ctx context.Context, group string) ([]webhook.Offer, error) {
	var list []webhook.Offer
	for item, err := range s.table.All(ctx, groupOwner(group), offerPrefix) {
		var row offerRow
		if err == nil {
			err = attributevalue.UnmarshalMap(item, &row)
		}
		if err != nil {
			return nil, fmt.Errorf("list offers: %w", err)
		}
		list = append(list, webhook.Offer{
			Tenant: row.Tenant, WebhookID: row.Webhook, DeliveryID: row.Delivery, Run: row.Run,
		})
	}
	return list, nil
}

// RemoveOffer implements webhook.Store.
func (s *Store) RemoveOffer(ctx context.Context, group string, o webhook.Offer) error {
	return s.table.Apply(ctx, "remove offer", s.table.Delete(dynamo.Key(groupOwner(group), offerPart(o)),
		"delivery = :delivery AND #run = :run", dynamo.Item{
			":delivery": dynamo.String(o.DeliveryID), ":run": dynamo.Number(int64(o.Run)),
		}).Or(nil))
}

// ClaimAttempt implements webhook.Store. claimed_until is in milliseconds since 1970.
func (s *Store) ClaimAttempt(ctx context.Context, d webhook.Delivery, by string, now, until time.Time) error {
	return s.updateRun(ctx, d, "SET claimed_by = :by, claimed_until = :until",
		"#run = :run AND attribute_not_exists(outcome) AND attempt_count = :count AND "+
			"(attribute_not_exists(claimed_by) OR claimed_by = :by OR claimed_until <= :now)",
		dynamo.Item{
			":run": dynamo.Number(int64(d.Run)), ":count": dynamo.Number(int64(d.AttemptCount)),
			":by": dynamo.String(by), ":until": dynamo.Number(until.UnixMilli()),
			":now": dynamo.Number(now.UnixMilli()),
		})
}
