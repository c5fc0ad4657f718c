package webhookhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/webhook"
	"sluice/shared/kit/fault"
)

const (
	defaultLimit = 50
	maxLimit     = 100
	// maxInspected is how many deliveries one request reads in search of those with an outcome.
	maxInspected = 1000
	// maxResent is how many deliveries one request sends again.
	maxResent = 200
	// pending is the clients' name for the outcome of a delivery that has not ended.
	pending = "Pending"
)

// Deliveries returns a page of the deliveries of a webhook, newest first.
func (s *Webhooks) Deliveries(ctx context.Context, r *http.Request, w webhook.Webhook) (any, error) {
	limit, outcome, err := readListQuery(r)
	if err != nil {
		return nil, err
	}
	query := "deliveries " + w.ID + " " + outcome
	position, err := s.openPage(w, query, r.URL.Query().Get("next"), fault.InQuery)
	if err != nil {
		return nil, err
	}
	reply, last, err := s.deliveriesPage(ctx, w, position, limit, outcome)
	if err != nil {
		return nil, err
	}
	reply.Next = platform.OrNull(s.Paging.Seal(w.Tenant, query, last))
	return reply, nil
}

// deliveriesPage reads deliveries until the page is full or maxInspected were read. It also returns the position of the
// last one that was inspected, "" at the end.
func (s *Webhooks) deliveriesPage(ctx context.Context, w webhook.Webhook, position string, limit int, outcome string) (
	wire.Deliveries, string, error) {
	reply, budget := wire.Deliveries{Deliveries: []wire.Delivery{}}, httpapi.ListBudget
	errFull := errors.New("the reply is full")
	for inspected := 0; inspected < maxInspected; {
		page, next, err := s.Store.ListDeliveries(ctx, w.Tenant, w.ID, position, limit)
		if err != nil {
			return wire.Deliveries{}, "", err
		}
		for _, d := range page {
			if outcome == "" || outcome == outcomeName(d.Outcome) {
				item := newDeliveryReply(d)
				if len(reply.Deliveries) == limit || budget.Reserve(item, errFull) != nil {
					return reply, position, nil
				}
				reply.Deliveries = append(reply.Deliveries, item)
			}
			position = d.ID
		}
		if next == "" {
			return reply, "", nil
		}
		position = next
		inspected += len(page)
		if len(reply.Deliveries) == limit {
			break
		}
	}
	return reply, position, nil
}

func outcomeName(o webhook.Outcome) string {
	if o == webhook.Pending {
		return pending
	}
	return string(o)
}

// readListQuery reads the parameters of the list of deliveries.
func readListQuery(r *http.Request) (limit int, outcome string, err error) {
	var details []fault.Detail
	add := func(name, message, code string) {
		details = append(details, fault.Detail{
			Source: fault.InQuery, Path: []any{name}, Message: message, Code: code,
			AttemptedValue: httpapi.AttemptedText(r.URL.Query().Get(name)),
		})
	}
	limit = defaultLimit
	if r.URL.Query().Has("limit") {
		if limit, err = strconv.Atoi(r.URL.Query().Get("limit")); err != nil || limit < 1 || limit > maxLimit {
			add("limit", fmt.Sprintf("The value must be a whole number from 1 to %d.", maxLimit), codeRange)
		}
	}
	outcome = r.URL.Query().Get("outcome")
	names := append([]string{pending}, endedOutcomes...)
	if r.URL.Query().Has("outcome") && !slices.Contains(names, outcome) {
		add("outcome", "The value must be one of "+strings.Join(names, ", ")+".", codeEnum)
	}
	if len(details) > 0 {
		return 0, "", fault.NewInvalid(details...)
	}
	return limit, outcome, nil
}

// openPage returns the position of a page token, "" for none.
func (s *Webhooks) openPage(w webhook.Webhook, query, token, source string) (string, error) {
	position, err := s.Paging.Open(w.Tenant, query, token)
	if errors.Is(err, platform.ErrPageToken) {
		return "", fault.NewInvalid(fault.Detail{
			Source: source, Path: []any{"next"}, Message: platform.ForeignPageMessage,
			Code: codePageToken,
		})
	}
	return position, err
}

// findDelivery reads the delivery that the path names.
func (s *Webhooks) findDelivery(ctx context.Context, r *http.Request, w webhook.Webhook) (webhook.Delivery, error) {
	id, err := pathUUID(r, "deliveryId")
	if err != nil {
		return webhook.Delivery{}, err
	}
	d, err := s.Store.GetDelivery(ctx, w.Tenant, w.ID, id)
	if errors.Is(err, webhook.ErrNotFound) {
		return webhook.Delivery{}, errNoDelivery
	}
	return d, err
}

// Delivery returns a delivery.
func (s *Webhooks) Delivery(ctx context.Context, r *http.Request, w webhook.Webhook) (any, error) {
	d, err := s.findDelivery(ctx, r, w)
	if err != nil {
		return nil, err
	}
	return newDeliveryReply(d), nil
}

// Resend sends a delivery with any outcome again. A run that is still making attempts ends.
func (s *Webhooks) Resend(ctx context.Context, r *http.Request, w webhook.Webhook) (any, error) {
	d, err := s.findDelivery(ctx, r, w)
	if err != nil {
		return nil, err
	}
	if !w.Enabled {
		return nil, errDisabled
	}
	if d, err = s.Dispatcher.Resend(ctx, d); err != nil {
		return nil, err
	}
	return newDeliveryReply(d), nil
}

// ResendSince sends again the deliveries of events since a time that have one of the given outcomes, at most maxResent
// with each request.
func (s *Webhooks) ResendSince(ctx context.Context, r *http.Request, w webhook.Webhook) (any, error) {
	var in ResendRequest
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	since, outcomes, err := in.check()
	if err != nil {
		return nil, err
	}
	query := "resend " + w.ID
	position, err := s.openPage(w, query, text(in.Next), fault.InBody)
	if err != nil {
		return nil, err
	}
	if !w.Enabled {
		return nil, errDisabled
	}
	if position == "" {
		position = webhook.FirstDeliveryID(since)
	}
	reply := wire.Resent{}
	for inspected := 0; inspected < maxInspected && reply.Resent < maxResent; {
		page, next, err := s.Store.ListDeliveriesSince(ctx, w.Tenant, w.ID, position, maxResent-int(reply.Resent))
		if err != nil {
			return nil, err
		}
		for _, d := range page {
			if !slices.Contains(outcomes, string(d.Outcome)) {
				continue
			}
			if _, err := s.Dispatcher.Resend(ctx, d); err != nil && !errors.Is(err, webhook.ErrNotFound) {
				return nil, err
			}
			reply.Resent++
		}
		if position = next; next == "" {
			return reply, nil
		}
		inspected += len(page)
	}
	reply.Next = platform.OrNull(s.Paging.Seal(w.Tenant, query, position))
	return reply, nil
}

// Test delivers a test message to a webhook, enabled or not.
func (s *Webhooks) Test(ctx context.Context, _ *http.Request, w webhook.Webhook) (any, error) {
	id, err := s.NewID()
	if err != nil {
		return nil, err
	}
	d, err := s.Dispatcher.SendTest(ctx, w, id)
	if err != nil {
		return nil, err
	}
	return newDeliveryReply(d), nil
}
