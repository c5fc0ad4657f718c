package externalauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"sluice/shared/connect/event"
)

// NoticeDays are the numbers of days before the end of a certificate at which a notice of it is sent, in this order.
var NoticeDays = []int{30, 14, 3}

const day = 24 * time.Hour

// noticedUntil returns the time up to which all notices of a certificate are announced: all notices that were due by
// then have been sent, or were due before the certificate was in the configuration.
func (c *Configuration) noticedUntil(given GivenCertificate) time.Time {
	return c.Noticed[DetailsOf(given.Certificate).ThumbprintSHA256]
}

// CarryOverNotices sets Noticed from previous, the configuration that c replaces, or nil if c is new. Notices of a
// certificate that previous has as well are not sent again. For any other certificate, notices that were due before now
// are left out.
func (c *Configuration) CarryOverNotices(previous *Configuration, now time.Time) {
	c.Noticed = nil
	for _, given := range c.inForce() {
		at := now
		if previous != nil {
			if before := previous.noticedUntil(given); !before.IsZero() {
				at = before
			}
		}
		c.markNoticed(given, at)
	}
}

// markNoticed records that no notice of a certificate that is due by a time has to be sent.
func (c *Configuration) markNoticed(given GivenCertificate, at time.Time) {
	if c.Noticed == nil {
		c.Noticed = map[string]time.Time{}
	}
	c.Noticed[DetailsOf(given.Certificate).ThumbprintSHA256] = at
}

// NextNotice returns when the next notice of a certificate in force is due; zero if none ever is.
func (c *Configuration) NextNotice() time.Time {
	var next time.Time
	for _, given := range c.inForce() {
		for _, days := range NoticeDays {
			at := given.Certificate.NotAfter.Add(-time.Duration(days) * day)
			if at.After(c.noticedUntil(given)) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// notice is the announcement that a certificate ends soon.
type notice struct {
	given GivenCertificate
	days  int
}

// dueNotices returns the notices that are due and have not been sent; of several for one certificate, only the last.
func (c *Configuration) dueNotices(now time.Time) []notice {
	var all []notice
	for _, given := range c.inForce() {
		last := notice{}
		for _, days := range NoticeDays { // descending, so that the last match is nearest to the end
			at := given.Certificate.NotAfter.Add(-time.Duration(days) * day)
			if at.After(c.noticedUntil(given)) && !at.After(now) {
				last = notice{given, days}
			}
		}
		if last.days > 0 {
			all = append(all, last)
		}
	}
	return all
}

// inForce returns the certificates that calls use. Those of the OAuth client are not in force if it uses the ones of
// the configuration itself.
func (c *Configuration) inForce() []GivenCertificate {
	used := *c
	if c.OAuth != nil && c.OAuth.UseEndpointMTLS {
		used.OAuth = nil
	}
	return used.Certificates()
}

// NoticePayload is the payload of event.CertificateExpiring.
type NoticePayload struct {
	ConfigurationID string `json:"configurationId"`
	// Host is the host of the configuration's URL, whose path may be confidential.
	Host string `json:"host"`
	// Property is the place of the certificate in the configuration, as in GivenCertificate.
	Property         string    `json:"property"`
	Subject          string    `json:"subject"`
	ThumbprintSHA256 string    `json:"thumbprintSha256"`
	NotAfter         time.Time `json:"notAfter"`
	// Days is one of NoticeDays.
	Days int `json:"days"`
}

// newMessage returns the event of a notice. The event of the same notice always has the same ID.
func (c *Configuration) newMessage(n notice) (event.Message, error) {
	details := DetailsOf(n.given.Certificate)
	payload := NoticePayload{ConfigurationID: c.ID, Property: n.given.Property, Subject: details.Subject,
		ThumbprintSHA256: details.ThumbprintSHA256, NotAfter: details.NotAfter, Days: n.days}
	if u, err := url.Parse(c.URL); err == nil {
		payload.Host = u.Host
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return event.Message{}, err
	}
	subject := fmt.Sprintf("configuration %s, certificate %s, %d days ahead", c.ID, details.ThumbprintSHA256, n.days)
	return event.Message{
		ID: event.NewID(event.CertificateExpiring, subject), Tenant: c.Tenant, Type: event.CertificateExpiring,
		RelativeURL: "/externalauthenticationquery/api/configuration/" + c.ID, Payload: text,
		When: details.NotAfter.Add(-time.Duration(n.days) * day), CorrelationID: c.ID, CausationID: c.ID,
	}, nil
}

// NoticeStore is the part of a store that Notifier needs.
type NoticeStore interface {
	// EachDue calls visit with each configuration, of any tenant, whose NextNotice is not after now. It stops at the
	// first error of visit and returns it. It may miss the writes of the last seconds.
	EachDue(ctx context.Context, now time.Time, visit func(Configuration) error) error
	// SetNoticed stores Noticed of a configuration. It changes nothing and returns nil if the stored version is not
	// c.Version any more.
	SetNoticed(ctx context.Context, c Configuration) error
}

// Notifier announces certificates that end soon. A schedule calls its Run.
type Notifier struct {
	Store  NoticeStore
	Events event.Sender
	Now    func() time.Time
	Log    *slog.Logger
}

// Run sends all notices that are due. It can be repeated, also at the same time: an event that is sent again has the
// same ID. If a configuration fails, the others go on, and it is due again the next time. Run returns the errors of
// all, joined.
func (n *Notifier) Run(ctx context.Context) error {
	var errs []error
	err := n.Store.EachDue(ctx, n.Now(), func(c Configuration) error {
		if err := n.announce(ctx, c); err != nil {
			errs = append(errs, fmt.Errorf("configuration %s: %w", c.ID, err))
		}
		return ctx.Err()
	})
	return errors.Join(append(errs, err)...)
}

// announce sends the due notices of one configuration, and then records that.
func (n *Notifier) announce(ctx context.Context, c Configuration) error {
	now := n.Now()
	notices := c.dueNotices(now)
	for _, due := range notices {
		m, err := c.newMessage(due)
		if err == nil {
			err = n.Events.Send(ctx, m)
		}
		if err != nil {
			return err
		}
		n.Log.InfoContext(ctx, "certificate ends soon", "tenant", c.Tenant, "configuration", c.ID, "days", due.days,
			"event", m.ID)
	}
	for _, due := range notices {
		c.markNoticed(due.given, now)
	}
	return n.Store.SetNoticed(ctx, c)
}
