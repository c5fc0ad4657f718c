package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"sluice/shared/connect/webhook"
)

// Limits of a carrier: an invocation that makes, beside the attempt that it was invoked for, those of other deliveries
// of its group, all at the same time. Slow receivers so occupy the places of a group and no more, and many of them one.
const (
	// placesPerGroup is how many carriers a group of tenants has, if there are as many.
	placesPerGroup = 10
	// placesTried is how many places an invocation tries to hold before it offers its delivery to their holders.
	placesTried = 3
	// callsPerCarrier is how many attempts a carrier makes at a time. Half of them are only for webhooks that have none
	// under way.
	callsPerCarrier = 256
	// callsPerWebhook is how many of these go to one webhook, so that one that is slow delays no other one.
	callsPerWebhook = 4
	// CallsPerTenant is how many of these can go to the receivers of one tenant.
	CallsPerTenant = callsPerWebhook * webhook.MaxPerTenant
	// carryTime is how long a carrier accepts offers. Attempts that have begun end within the function's timeout.
	carryTime = 40 * time.Second
	// placeTime is how long a place is held without being held again: when a carrier was killed, another one follows.
	placeTime = 10 * time.Second
	// claimTime is how long an attempt is claimed: longer than the exchange that delivers.
	claimTime = 20 * time.Second
	// maxOfferPause is the longest pause until a delivery that no carrier has accepted is offered again.
	maxOfferPause = time.Minute
)

// ownExecution claims attempts for the execution of the delivery. It may claim them again, since it makes one call of
// the function after the other.
const ownExecution = "execution"

// errClaimed means that somebody else makes the attempt.
var errClaimed = errors.New("delivery: the attempt is claimed")

// attempt is an attempt that is due.
type attempt struct {
	delivery webhook.Delivery
	webhook  webhook.Webhook
}

// progress is how far a run is.
type progress struct {
	// done means that it has ended; otherwise the next attempt is due at a time.
	done bool
	next time.Time
}

// groupOf returns the group of a tenant, and how many places it has.
func (s *Step) groupOf(tenant string) (group string, places int) {
	groups := (s.Carriers + placesPerGroup - 1) / placesPerGroup
	h := fnv.New32a()
	_, _ = h.Write([]byte(tenant))
	return fmt.Sprint(h.Sum32() % uint32(groups)), s.Carriers / groups
}

// findPlace has the invocation hold a place in the tenant's group. ok is false if others hold those that it tries.
func (s *Step) findPlace(ctx context.Context, tenant string) (p webhook.Place, ok bool, err error) {
	group, places := s.groupOf(tenant)
	p = webhook.Place{Group: group, Holder: s.NewHolder(ctx)}
	first := int(s.Random() * float64(places))
	for i := range min(places, placesTried) {
		p.Number = (first + i) % places
		if ok, err = s.Store.HoldPlace(ctx, p, s.Now(), s.Now().Add(placeTime)); ok || err != nil {
			return p, ok, err
		}
	}
	return p, false, nil
}

// offer has the carriers of a group make an attempt, and returns when to find out whether one has: the more rarely, the
// longer it waits.
func (s *Step) offer(ctx context.Context, group string, in Input, d webhook.Delivery) (progress, error) {
	now := s.Now()
	err := s.Store.Offer(ctx, group, webhook.Offer{
		Tenant: in.Tenant, WebhookID: in.WebhookID, DeliveryID: in.DeliveryID, Run: in.Run,
	}, now)
	return s.waitForCarrier(d), err
}

// waitForCarrier returns when to find out whether a carrier has made an attempt.
func (s *Step) waitForCarrier(d webhook.Delivery) progress {
	now, due := s.Now(), d.RunAt
	if d.NextAttemptAt.After(due) {
		due = d.NextAttemptAt
	}
	pause := min(max(now.Sub(due)/2, time.Second), maxOfferPause)
	return progress{next: now.Add(pause*3/4 + time.Duration(s.Random()*float64(pause)/2))}
}

// carrier is an invocation that makes the attempts of a group.
type carrier struct {
	step  *Step
	place webhook.Place
	own   Input
	// accepts means that the carrier holds its place, until heldUntil, and accepts offers until acceptsUntil.
	accepts                 bool
	heldUntil, acceptsUntil time.Time
	// running has the attempts under way, and ofWebhook how many each webhook has.
	running   map[Input]bool
	ofWebhook map[string]int
	ended     chan ended
	// result is that of the own delivery.
	result ended
}

// ended is the result of one call of a carrier.
type ended struct {
	in       Input
	progress progress
	err      error
	// panicked is the value of a panic; nil for none.
	panicked any
}

// carry makes an attempt, those that are offered meanwhile, and further ones of the own delivery that are due
// meanwhile. It returns when all that it has begun have ended, with how far the own delivery is.
func (s *Step) carry(ctx context.Context, p webhook.Place, in Input, a *attempt) (progress, error) {
	now := s.Now()
	c := &carrier{
		step: s, place: p, own: in, accepts: true, heldUntil: now.Add(placeTime), acceptsUntil: now.Add(carryTime),
		running: map[Input]bool{}, ofWebhook: map[string]int{},
		ended: make(chan ended, callsPerCarrier+1), // and the own delivery
	}
	defer c.leave(ctx)
	c.start(ctx, in, func() (progress, error) { return s.makeAttempt(ctx, a, ownExecution) })
	pauses := time.NewTicker(s.OfferPause)
	defer pauses.Stop()
	for len(c.running) > 0 {
		select {
		case e := <-c.ended:
			c.end(ctx, e)
		case <-pauses.C:
		}
		if c.accepts {
			c.accept(ctx)
		}
	}
	return c.result.progress, c.result.err
}

// start makes a call beside the others.
func (c *carrier) start(ctx context.Context, in Input, call func() (progress, error)) {
	c.running[in] = true
	c.ofWebhook[in.WebhookID]++
	go func() {
		e := ended{in: in}
		defer func() {
			e.panicked = recover()
			c.ended <- e
		}()
		e.progress, e.err = call()
	}()
}

// end registers the end of a call. A panic goes on in the invocation, as it would without a carrier.
func (c *carrier) end(ctx context.Context, e ended) {
	if e.panicked != nil {
		panic(e.panicked)
	}
	delete(c.running, e.in)
	c.ofWebhook[e.in.WebhookID]--
	switch {
	case e.in == c.own:
		c.result = e
	case e.err != nil:
		c.step.logFailure(ctx, e.in, e.err) // its execution goes on with it
	}
}

// accept begins the attempts that are offered or due, as many as there may be.
func (c *carrier) accept(ctx context.Context) {
	now := c.step.Now()
	if !now.Before(c.acceptsUntil) || !c.hold(ctx, now) {
		c.leave(ctx)
		return
	}
	isOwnDue := c.result.err == nil && !c.result.progress.done && !now.Before(c.result.progress.next)
	if !c.running[c.own] && isOwnDue && len(c.running) > 0 {
		c.start(ctx, c.own, func() (progress, error) { return c.step.proceed(ctx, c.own, ownExecution) })
	}
	offers, err := c.step.Store.ListOffers(ctx, c.place.Group)
	if err != nil {
		c.step.logFailure(ctx, c.own, err)
		c.leave(ctx)
	}
	for _, o := range c.inTurn(offers) {
		in := Input{Tenant: o.Tenant, WebhookID: o.WebhookID, DeliveryID: o.DeliveryID, Run: o.Run}
		if in == c.own { // offered before this invocation
			if err := c.step.Store.RemoveOffer(ctx, c.place.Group, o); err != nil {
				c.step.logFailure(ctx, in, err)
			}
			continue
		}
		if c.running[in] || !c.canCall(o.WebhookID) {
			continue
		}
		c.start(ctx, in, func() (progress, error) { return c.makeOffered(ctx, in, o) })
	}
}

// canCall reports whether the carrier can make one more attempt, to a webhook.
func (c *carrier) canCall(webhookID string) bool {
	most := callsPerCarrier
	if c.ofWebhook[webhookID] > 0 {
		most /= 2
	}
	return c.ofWebhook[webhookID] < callsPerWebhook && len(c.running) < most
}

// makeOffered makes an attempt that was offered, unless somebody else makes it.
func (c *carrier) makeOffered(ctx context.Context, in Input, o webhook.Offer) (progress, error) {
	if err := c.step.Store.RemoveOffer(ctx, c.place.Group, o); err != nil {
		return progress{}, err
	}
	p, err := c.step.proceed(ctx, in, c.place.Holder)
	if errors.Is(err, errClaimed) {
		err = nil
	}
	return p, err
}

// inTurn returns offers in the order of the attempts that their webhooks have under way, beginning anywhere.
func (c *carrier) inTurn(offers []webhook.Offer) []webhook.Offer {
	first := int(c.step.Random() * float64(len(offers)))
	offers = slices.Concat(offers[first:], offers[:first])
	slices.SortStableFunc(offers, func(a, b webhook.Offer) int {
		return cmp.Compare(c.ofWebhook[a.WebhookID], c.ofWebhook[b.WebhookID])
	})
	return offers
}

// hold holds the place for longer when half of its time is over, and reports whether the carrier still has it.
func (c *carrier) hold(ctx context.Context, now time.Time) bool {
	if c.heldUntil.Sub(now) > placeTime/2 {
		return true
	}
	c.heldUntil = now.Add(placeTime)
	ok, err := c.step.Store.HoldPlace(ctx, c.place, now, c.heldUntil)
	return ok && err == nil
}

// leave makes the place free for another carrier. A place that cannot be left becomes free by itself.
func (c *carrier) leave(ctx context.Context) {
	if !c.accepts {
		return
	}
	c.accepts = false
	if err := c.step.Store.LeavePlace(ctx, c.place); err != nil {
		c.step.logFailure(ctx, c.own, err)
	}
}
