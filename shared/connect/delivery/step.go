package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"

	"sluice/shared/connect/event"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/webhook"
	"sluice/shared/kit/deadline"
	"sluice/shared/kit/machine"
	"sluice/shared/kit/sealed"
)

// Step makes the attempts of deliveries. Its method HandleInput is the deliver function: that of the
// states Deliver and GiveUp, and of executions that have ended otherwise.
type Step struct {
	Store webhook.Store
	// Receivers calls the receivers of a tenant.
	Receivers interface {
		Do(ctx context.Context, tenant string, r *http.Request) (*outbound.Reply, error)
	}
	// Secrets opens the secrets of webhooks.
	Secrets interface {
		Open(ctx context.Context, tenant, purpose string, sealed []byte) ([]byte, error)
	}
	// Events gets the events about webhooks that are disabled or have recovered.
	Events event.Sender
	Policy webhook.Policy
	// Carriers is how many invocations make attempts, and wait for receivers, at a time; at least 1.
	Carriers int
	// OfferPause is how often a carrier looks for attempts that are offered.
	OfferPause time.Duration
	// NewHolder returns the ID of an invocation.
	NewHolder func(ctx context.Context) string
	Now       func() time.Time
	// Random returns a number in [0, 1), which spreads the attempts.
	Random func() float64
	Log    *slog.Logger
}

// Input is the input of the states Deliver and GiveUp.
type Input struct {
	Tenant     string `json:"tenant"`
	WebhookID  string `json:"webhook_id"`
	DeliveryID string `json:"delivery_id"`
	Run        int    `json:"run"`
	// Failure is why the attempts cannot go on; nil in the state Deliver.
	Failure *machine.Failure `json:"failure,omitempty"`
}

// Output says how to go on.
type Output struct {
	// Done means that the run has ended.
	Done bool `json:"done"`
	// Wait is the number of seconds until the next attempt.
	Wait int `json:"wait"`
}

// newInput returns the input of the step for the event: to end the delivery, unless it has ended.
func newInput(e machine.Event) (Input, error) {
	var in Input
	if err := json.Unmarshal([]byte(e.Detail.Input), &in); err != nil || !e.IsFromStepFunctions() ||
		in.DeliveryID == "" {
		return Input{}, fmt.Errorf("event from %q about an execution with another input: %w", e.Source, err)
	}
	in.Failure = e.Failure()
	return in, nil
}

// HandleInput handles the input of a state, or an event about an execution that has ended: one that was stopped, or ran
// out of time, has not reached GiveUp. It returns an error for anything else.
func (s *Step) HandleInput(ctx context.Context, text json.RawMessage) (Output, error) {
	var e machine.Event
	var in Input
	err := json.Unmarshal(text, &e)
	switch {
	case err != nil:
		return Output{}, fmt.Errorf("read input: %w", err)
	case e.DetailType == machine.ExecutionEnded:
		in, err = newInput(e)
	case e.DetailType == "":
		err = json.Unmarshal(text, &in)
	default:
		err = fmt.Errorf("unknown kind of event: detail-type %q", e.DetailType)
	}
	if err != nil {
		return Output{}, err
	}
	return s.Handle(ctx, in)
}

// Transient asks the state machine to run the step again later. It is returned bare: Retry matches the name of the
// type.
type Transient struct{ Message string }

// Error implements error.
func (e *Transient) Error() string { return e.Message }

// margin is the time that the step leaves at the end of its invocation to report an error.
const margin = 2 * time.Second

// Handle makes the attempt that is due, if one is, or offers it to a carrier (see carry). It may be repeated and run at
// the same time as itself: an attempt that was recorded is not repeated, and a run that has ended, or was followed by
// another one, makes none.
func (s *Step) Handle(ctx context.Context, in Input) (Output, error) {
	ctx, cancel := deadline.Shorten(ctx, margin)
	defer cancel()
	p, err := s.handle(ctx, in)
	if err != nil {
		s.logFailure(ctx, in, err)
		return Output{}, &Transient{"the step did not finish; its log has the cause"}
	}
	if p.done {
		return Output{Done: true}, nil
	}
	wait := p.next.Sub(s.Now())
	return Output{Wait: max(0, int((wait+time.Second-1)/time.Second))}, nil
}

func (s *Step) logFailure(ctx context.Context, in Input, err error) {
	s.Log.ErrorContext(ctx, "delivery step failed", "webhook", in.WebhookID, "delivery", in.DeliveryID, "error", err)
}

func (s *Step) handle(ctx context.Context, in Input) (progress, error) {
	a, p, err := s.prepare(ctx, in)
	if a == nil {
		return p, err
	}
	if by := a.delivery.ClaimedBy; by != "" && by != ownExecution && s.Now().Before(a.delivery.ClaimedUntil) {
		return s.waitForCarrier(a.delivery), nil
	}
	place, ok, err := s.findPlace(ctx, in.Tenant)
	switch {
	case err != nil:
		return progress{}, err
	case !ok:
		return s.offer(ctx, place.Group, in, a.delivery)
	}
	p, err = s.carry(ctx, place, in, a)
	if errors.Is(err, errClaimed) {
		return s.waitForCarrier(a.delivery), nil
	}
	return p, err
}

// prepare returns the attempt that is due or, if it is nil, how far the run is.
func (s *Step) prepare(ctx context.Context, in Input) (*attempt, progress, error) {
	d, err := s.open(ctx, in)
	switch {
	case errors.Is(err, webhook.ErrNotFound): // it has expired
		return nil, progress{done: true}, nil
	case err != nil:
		return nil, progress{}, err
	case d.Run > in.Run:
		return nil, progress{done: true}, nil
	case d.Outcome != webhook.Pending: // an earlier call has ended it
		return nil, progress{done: true}, s.recordHealth(ctx, d)
	case in.Failure != nil:
		s.Log.ErrorContext(ctx, "delivery given up", "delivery", d.ID, "error", in.Failure.Error, "cause",
			in.Failure.Cause)
		return nil, progress{done: true}, s.end(ctx, d, webhook.CodeInterrupted)
	}
	w, err := s.Store.Get(ctx, in.Tenant, in.WebhookID)
	switch {
	case errors.Is(err, webhook.ErrNotFound):
		return nil, progress{done: true}, s.end(ctx, d, webhook.CodeDeleted)
	case err != nil:
		return nil, progress{}, err
	case !w.Enabled && !d.IsTest():
		return nil, progress{done: true}, s.end(ctx, d, webhook.CodeDisabled)
	case s.Now().Before(d.NextAttemptAt): // an earlier call has made the attempt
		return nil, progress{next: d.NextAttemptAt}, nil
	}
	return &attempt{d, w}, progress{}, nil
}

// proceed makes the attempt that is due, if one is, unless somebody else has claimed it: errClaimed.
func (s *Step) proceed(ctx context.Context, in Input, by string) (progress, error) {
	a, p, err := s.prepare(ctx, in)
	if a == nil {
		return p, err
	}
	return s.makeAttempt(ctx, a, by)
}

// makeAttempt claims an attempt, makes and records it. It returns errClaimed if that is up to somebody else.
func (s *Step) makeAttempt(ctx context.Context, a *attempt, by string) (progress, error) {
	d, w := a.delivery, a.webhook
	err := s.Store.ClaimAttempt(ctx, d, by, s.Now(), s.Now().Add(claimTime))
	if errors.Is(err, webhook.ErrChanged) {
		return progress{}, errClaimed
	}
	if err != nil {
		return progress{}, err
	}
	made, err := s.attempt(ctx, w, d)
	if err != nil {
		return progress{}, err
	}
	d = s.record(d, made)
	if err := s.Store.SaveAttempt(ctx, d); err != nil {
		return progress{}, err
	}
	if d.Outcome != webhook.Pending {
		return progress{done: true}, s.recordHealth(ctx, d)
	}
	if w.Health.FailingSince.IsZero() {
		_, err = s.Store.MarkFailing(ctx, w.Tenant, w.ID, made.At, false)
	}
	return progress{next: d.NextAttemptAt}, ignoreNotFound(err)
}

// open reads the delivery of an input and begins its run, if nothing has.
func (s *Step) open(ctx context.Context, in Input) (webhook.Delivery, error) {
	d, err := s.Store.GetDelivery(ctx, in.Tenant, in.WebhookID, in.DeliveryID)
	switch {
	case err != nil:
		return d, err
	case d.Run < in.Run:
		return s.Store.BeginRun(ctx, in.Tenant, in.WebhookID, in.DeliveryID, in.Run, s.Now())
	case d.Run == in.Run && d.IsOpen:
		return s.Store.StopCollecting(ctx, d, in.Run, s.Now())
	}
	return d, nil
}

// end ends a run without an attempt.
func (s *Step) end(ctx context.Context, d webhook.Delivery, code string) error {
	d.Outcome, d.Code, d.EndedAt = webhook.Failed, code, s.Now()
	if err := s.Store.EndDelivery(ctx, d); err != nil && !errors.Is(err, webhook.ErrChanged) {
		return err
	}
	return nil
}

// attempt sends a delivery once. It returns an error only if the service itself is at fault.
func (s *Step) attempt(ctx context.Context, w webhook.Webhook, d webhook.Delivery) (webhook.Attempt, error) {
	secrets, err := s.openSecrets(ctx, w)
	if err != nil {
		return webhook.Attempt{}, err
	}
	body := d.Body()
	a := webhook.Attempt{Number: d.AttemptCount + 1, At: s.Now(), Outcome: webhook.Failed}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil { // cannot happen: the URL was checked when it was stored
		a.Code, a.Message = string(outbound.URLRefused), "The URL of the webhook is not valid."
		return a, nil
	}
	request.Header.Set("Content-Type", "application/json")
	webhook.Sign(request.Header, d.ID, a.At, body, secrets)
	reply, err := s.Receivers.Do(ctx, w.Tenant, request)
	a.Took = s.Now().Sub(a.At)
	var refused *outbound.Error
	switch {
	case errors.As(err, &refused):
		a.Repeats = refused.Repeats
		a.Number += a.Repeats
		a.Code, a.Message = string(refused.Reason), refused.Message
		if refused.Reason == outbound.TimedOut {
			a.Outcome = webhook.TimedOut
		}
		return a, nil
	case err != nil:
		return webhook.Attempt{}, err
	}
	a.Repeats = reply.Repeats
	a.Number += a.Repeats
	a.Status, a.Answer = reply.Status, printable(reply.Body)
	a.Outcome, a.Code, a.Message = judge(reply.Status)
	return a, nil
}

func (s *Step) openSecrets(ctx context.Context, w webhook.Webhook) (webhook.Secrets, error) {
	current, previous := w.SigningSecrets(s.Now())
	var secrets webhook.Secrets
	text, err := s.Secrets.Open(ctx, w.Tenant, sealed.Webhook, current)
	if err != nil {
		return secrets, fmt.Errorf("open the secret of webhook %s: %w", w.ID, err)
	}
	secrets.Current = string(text)
	if previous == nil {
		return secrets, nil
	}
	if text, err = s.Secrets.Open(ctx, w.Tenant, sealed.Webhook, previous); err != nil {
		return secrets, fmt.Errorf("open the previous secret of webhook %s: %w", w.ID, err)
	}
	secrets.Previous = string(text)
	return secrets, nil
}

// judge interprets a status.
func judge(status int) (outcome webhook.Outcome, code, message string) {
	switch {
	case status >= 200 && status < 300:
		return webhook.Successful, "", ""
	case status >= 300 && status < 400:
		return webhook.Failed, webhook.CodeRedirect,
			fmt.Sprintf("The receiver answered %d. Redirects are not followed: set the URL that they lead to.", status)
	case status == http.StatusGone:
		return webhook.Failed, webhook.CodeGone, "The receiver answered 410, which disables the webhook."
	}
	return webhook.Failed, webhook.CodeStatus, fmt.Sprintf("The receiver answered %d.", status)
}

// printable returns the beginning of an answer as text without control characters but line feeds and tabs.
func printable(body []byte) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), webhook.MaxAnswerBytes)]), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// record returns the delivery after an attempt.
func (s *Step) record(d webhook.Delivery, a webhook.Attempt) webhook.Delivery {
	now := s.Now()
	d.AttemptCount += 1 + a.Repeats
	d.Attempts = append(d.Attempts[max(0, len(d.Attempts)-webhook.MaxAttempts+1):], a)
	d.NextAttemptAt = time.Time{}
	if a.Outcome != webhook.Successful && a.Code != webhook.CodeGone && !d.IsTest() {
		failed := 0
		for _, earlier := range d.Attempts {
			if !earlier.At.Before(d.RunAt) {
				failed++
			}
		}
		if at, ok := s.Policy.NextAttempt(d.RunAt, now, failed, s.Random()); ok {
			d.NextAttemptAt = at
			return d
		}
	}
	d.Outcome, d.Code, d.EndedAt = a.Outcome, a.Code, now
	return d
}
