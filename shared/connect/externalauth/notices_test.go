package externalauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/connect/event"
	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/externalauth/externalauthtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var noticeStart = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// noticeStore keeps one configuration.
type noticeStore struct{ stored externalauth.Configuration }

func (s *noticeStore) EachDue(_ context.Context, now time.Time, visit func(externalauth.Configuration) error) error {
	if next := s.stored.NextNotice(); next.IsZero() || next.After(now) {
		return nil
	}
	c := s.stored
	c.Noticed = map[string]time.Time{}
	for thumbprint, at := range s.stored.Noticed {
		c.Noticed[thumbprint] = at
	}
	return visit(c)
}

func (s *noticeStore) SetNoticed(_ context.Context, c externalauth.Configuration) error {
	s.stored.Noticed = c.Noticed
	return nil
}

// eventSender records events.
type eventSender struct {
	sent []event.Message
	err  error
}

func (s *eventSender) Send(_ context.Context, m event.Message) error {
	if s.err == nil {
		s.sent = append(s.sent, m)
	}
	return s.err
}

// noticeFixture is a notifier over one configuration.
type noticeFixture struct {
	*testing.T
	store  *noticeStore
	events *eventSender
	now    time.Time
}

func newNoticeFixture(t *testing.T, c externalauth.Configuration) *noticeFixture {
	f := &noticeFixture{t, &noticeStore{}, &eventSender{}, noticeStart}
	c.ID, c.Tenant, c.URL = "c", "t", "https://hooks.example.com/confidential"
	c.CarryOverNotices(nil, f.now)
	f.store.stored = c
	return f
}

// runAt runs the notifier at a time before the end of a certificate and returns the announced events.
func (f *noticeFixture) runAt(now time.Time) []string {
	f.Helper()
	f.now, f.events.sent = now, nil
	n := &externalauth.Notifier{Store: f.store, Events: f.events, Now: func() time.Time { return f.now },
		Log: slog.New(slog.DiscardHandler)}
	if err := n.Run(f.Context()); (err != nil) != (f.events.err != nil) {
		f.Errorf("run: %v, want %v", err, f.events.err)
	}
	var got []string
	for _, m := range f.events.sent {
		var p externalauth.NoticePayload
		errtest.Fatal(f, json.Unmarshal(m.Payload, &p))
		if m.Tenant != "t" || m.Type != event.CertificateExpiring || m.CausationID != "c" || p.ConfigurationID != "c" ||
			p.Host != "hooks.example.com" || !m.When.Equal(p.NotAfter.AddDate(0, 0, -p.Days)) {
			f.Errorf("announced %+v with %+v", m, p)
		}
		got = append(got, fmt.Sprintf("%s %d", p.Property, p.Days))
	}
	return got
}

func (f *noticeFixture) expectAt(now time.Time, want ...string) {
	f.Helper()
	difftest.Equal(f, fmt.Sprintf("announced at %v", now), want, f.runAt(now))
}

func newPEM(t *testing.T, end time.Time) string {
	t.Helper()
	return externalauthtest.New(t, "hooks.example.com", false, noticeStart.AddDate(-1, 0, 0), end, nil).PEM()
}

// Each certificate in force is announced once at each threshold, whatever happens in between.
func TestNotices(t *testing.T) {
	t.Parallel()
	end := noticeStart.AddDate(0, 0, 40)
	f := newNoticeFixture(t, externalauth.Configuration{EndpointCertificate: &externalauth.Certificate{PEM: newPEM(t,
		end)}})
	const property = "endpointCertificate.certificate"
	before := func(days int) time.Time { return end.AddDate(0, 0, -days) }
	f.expectAt(before(31))
	f.expectAt(before(30).Add(-time.Second))
	f.expectAt(before(30), property+" 30")
	f.expectAt(before(30))
	f.expectAt(before(15))
	f.events.err = errors.New("down")
	f.expectAt(before(14))
	f.events.err = nil
	f.expectAt(before(13), property+" 14")
	f.expectAt(before(13))
	f.expectAt(end.AddDate(0, 0, 1), property+" 3") // late, because the schedule had stopped
	f.expectAt(end.AddDate(1, 0, 0))
	if next := f.store.stored.NextNotice(); !next.IsZero() {
		t.Errorf("the next notice is due at %v, want none", next)
	}
}

// Thresholds that were missed are made up for by the last one alone.
func TestMissedNotices(t *testing.T) {
	t.Parallel()
	end := noticeStart.AddDate(0, 0, 40)
	f := newNoticeFixture(t, externalauth.Configuration{EndpointCertificate: &externalauth.Certificate{PEM: newPEM(t,
		end)}})
	f.expectAt(end.AddDate(0, 0, -2), "endpointCertificate.certificate 3")
	f.expectAt(end.AddDate(0, 0, -1))
}

// The next certificate and the token endpoint's are in force, too, unless the configuration's own counts there.
func TestNoticesOfEveryCertificateInForce(t *testing.T) {
	t.Parallel()
	end := noticeStart.AddDate(0, 0, 40)
	c := externalauth.Configuration{
		EndpointCertificate: &externalauth.Certificate{PEM: newPEM(t, end), NextPEM: newPEM(t, end)},
		OAuth: &externalauth.OAuth{EndpointCertificate: &externalauth.Certificate{IsPublicCA: true,
			PEM: newPEM(t, end)}},
	}
	f := newNoticeFixture(t, c)
	f.expectAt(end.AddDate(0, 0, -14), "endpointCertificate.certificate 14", "endpointCertificate.nextCertificate 14",
		"oAuthConfiguration.clientCredentialsConfig.endpointCertificate.certificate 14")
	o := *c.OAuth
	o.UseEndpointMTLS, c.OAuth = true, &o
	f = newNoticeFixture(t, c)
	f.expectAt(end.AddDate(0, 0, -14), "endpointCertificate.certificate 14", "endpointCertificate.nextCertificate 14")
}

// A change of the configuration neither repeats nor loses the notice of a certificate that stays; a new certificate is
// announced only ahead.
func TestNoticesOfAChangedConfiguration(t *testing.T) {
	t.Parallel()
	end := noticeStart.AddDate(0, 0, 40)
	kept := newPEM(t, end)
	f := newNoticeFixture(t, externalauth.Configuration{EndpointCertificate: &externalauth.Certificate{PEM: kept}})
	replace := func(now time.Time, c externalauth.Configuration) {
		previous := f.store.stored
		c.ID, c.Tenant, c.URL = previous.ID, previous.Tenant, previous.URL
		c.CarryOverNotices(&previous, now)
		f.store.stored = c
	}
	f.expectAt(end.AddDate(0, 0, -30), "endpointCertificate.certificate 30")
	// Changed after the second notice was due and before the schedule ran. What is new ends in 13 days, too.
	replace(end.AddDate(0, 0, -13), externalauth.Configuration{
		EndpointCertificate: &externalauth.Certificate{PEM: newPEM(t, end), NextPEM: kept},
	})
	f.expectAt(end.AddDate(0, 0, -13), "endpointCertificate.nextCertificate 14")
	f.expectAt(end.AddDate(0, 0, -3), "endpointCertificate.certificate 3", "endpointCertificate.nextCertificate 3")
}

// An announcement that is repeated, because it was not recorded, is the same message.
func TestRepeatedNotices(t *testing.T) {
	t.Parallel()
	end := noticeStart.AddDate(0, 0, 40)
	f := newNoticeFixture(t, externalauth.Configuration{EndpointCertificate: &externalauth.Certificate{PEM: newPEM(t,
		end)}})
	unrecorded := f.store.stored.Noticed
	f.runAt(end.AddDate(0, 0, -14))
	first := f.events.sent
	f.store.stored.Noticed = unrecorded
	f.runAt(end.AddDate(0, 0, -12))
	if diff := cmp.Diff(first, f.events.sent); diff != "" || len(first) != 1 {
		t.Errorf("%d messages, repeated (-first +second):\n%s", len(first), diff)
	}
}
