package webhookdb_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/connect/webhook/webhooktest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const (
	table  = "test-webhooks"
	tenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"
)

var at = time.Date(2025, 11, 25, 14, 3, 21, 512e6, time.UTC)

// newWebhook returns a webhook with every value that a tenant sets.
func newWebhook(id string) webhook.Webhook {
	return webhook.Webhook{
		ID: id, Tenant: tenant, Name: "name", URL: "https://receiver.test/hook", Enabled: true,
		EventTypes: []string{"*"}, EmailAddresses: []string{"someone@receiver.test"}, Type: webhook.Batch,
		BatchSize: 10,
		Secret:    []byte("sealed"), PreviousSecret: []byte("sealed before"), PreviousUntil: at.Add(time.Hour),
		CreatedAt: at, UpdatedAt: at.Add(time.Minute), Version: 1,
	}
}

// forEachStore runs a test with the store on DynamoDB, and with the one in memory.
func forEachStore(t *testing.T, test func(*testing.T, webhook.Store)) {
	t.Parallel()
	t.Run("DynamoDB", func(t *testing.T) { test(t, webhookdb.New(dynamotest.Start(t), table)) })
	t.Run("memory", func(t *testing.T) { test(t, webhooktest.NewMemory()) })
}

func create(t *testing.T, s webhook.Store, w webhook.Webhook) webhook.Webhook {
	t.Helper()
	errtest.Fatal(t, s.Create(t.Context(), w))
	return w
}

func TestCreateAndChange(t *testing.T) { forEachStore(t, testCreateAndChange) }

func testCreateAndChange(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	w := create(t, s, newWebhook("w1"))
	create(t, s, newWebhook("w1")) // repeated
	other := newWebhook("w2")
	other.PreviousSecret, other.PreviousUntil, other.EmailAddresses = nil, time.Time{}, []string{}
	create(t, s, other)
	difftest.Equal(t, "list", []webhook.Webhook{w, other}, errtest.Must(s.List(ctx, tenant))(t))
	difftest.Equal(t, "another tenant has webhooks", 0, len(errtest.Must(s.List(ctx, "other"))(t)))
	errtest.Is(t, "another tenant's webhook", errtest.Of(s.Get(ctx, "other", "w1")), webhook.ErrNotFound)

	w.Name, w.Enabled, w.PreviousSecret, w.PreviousUntil = "", false, nil, time.Time{}
	saved, err := s.Save(ctx, w, false)
	w.Version = 2
	errtest.Fatal(t, err)
	difftest.Equal(t, "save", w, saved)
	if got, err := s.Get(ctx, tenant, "w1"); err != nil || !cmp.Equal(w, got) {
		t.Errorf("get after save: %v\n%s", err, cmp.Diff(w, got))
	}
	create(t, s, newWebhook("w1")) // repeated late: it changes nothing
	if got, err := s.Get(ctx, tenant, "w1"); err != nil || !cmp.Equal(w, got) {
		t.Errorf("get after it was created again: %v\n%s", err, cmp.Diff(w, got))
	}
	w.Version = 1
	errtest.Is(t, "save of an old version", errtest.Of(s.Save(ctx, w, false)), webhook.ErrChanged)
	errtest.Is(t, "delete", s.Delete(ctx, tenant, "w1"), nil)
	_, getErr := s.Get(ctx, tenant, "w1")
	_, saveErr := s.Save(ctx, w, false)
	_, failErr := s.MarkFailing(ctx, tenant, "w1", at, true)
	_, disableErr := s.Disable(ctx, tenant, "w1", webhook.ReasonGone, at)
	for what, err := range map[string]error{
		"get": getErr, "save": saveErr, "delete": s.Delete(ctx, tenant, "w1"), "mark failing": failErr,
		"disable": disableErr,
	} {
		errtest.Is(t, what+" after delete", err, webhook.ErrNotFound)
	}
	errtest.Is(t, "mark working after delete", s.MarkWorking(ctx, tenant, "w1", at), nil)
}

// Of many creations at the same time ten succeed, and each deletion makes room for one.
func TestLimitIsExact(t *testing.T) { forEachStore(t, testLimitIsExact) }

func testLimitIsExact(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	var created, refused atomic.Int64
	var g errgroup.Group
	for i := range webhook.MaxPerTenant + 5 {
		g.Go(func() error {
			err := s.Create(ctx, newWebhook(fmt.Sprintf("w%02d", i)))
			switch {
			case err == nil:
				created.Add(1)
			case errors.Is(err, webhook.ErrTooMany):
				refused.Add(1)
			default:
				return err
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil || created.Load() != webhook.MaxPerTenant || refused.Load() != 5 {
		t.Fatalf("%d created, %d refused, %v; want %d and 5", created.Load(), refused.Load(), err, webhook.MaxPerTenant)
	}
	list := errtest.Must(s.List(ctx, tenant))(t)
	difftest.Equal(t, "webhooks", webhook.MaxPerTenant, len(list))
	errtest.Fatal(t, s.Delete(ctx, tenant, list[3].ID))
	errtest.Is(t, "create after a deletion", s.Create(ctx, newWebhook("x1")), nil)
	errtest.Is(t, "create one more", s.Create(ctx, newWebhook("x2")), webhook.ErrTooMany)
}

func TestHealth(t *testing.T) { forEachStore(t, testHealth) }

func testHealth(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	w := create(t, s, newWebhook("w1"))
	check := func(want webhook.Health) {
		t.Helper()
		got, err := s.Get(ctx, tenant, "w1")
		if diff := cmp.Diff(want, got.Health); err != nil || diff != "" {
			t.Errorf("%v, (-want +got)\n%s", err, diff)
		}
	}
	mark := func(after time.Duration, givenUp bool) {
		t.Helper()
		errtest.Is(t, "MarkFailing", errtest.Of(s.MarkFailing(ctx, tenant, "w1", at.Add(after), givenUp)), nil)
	}
	mark(0, false)
	mark(time.Hour, false)
	check(webhook.Health{FailingSince: at})
	mark(2*time.Hour, true)
	mark(3*time.Hour, true)
	check(webhook.Health{FailingSince: at, GivenUpSince: at.Add(2 * time.Hour)})
	errtest.Fatal(t, s.MarkWorking(ctx, tenant, "w1", at.Add(-1)))
	check(webhook.Health{FailingSince: at, GivenUpSince: at.Add(2 * time.Hour)})
	if _, ok, err := s.MarkRecovered(ctx, tenant, "w1", at.Add(-1), at.Add(time.Hour)); err != nil || ok {
		t.Errorf("recovered from another failure: %v, %v; want false", ok, err)
	}
	recovered := webhook.Health{FailingSince: at, GivenUpSince: at.Add(2 * time.Hour),
		RecoveredAt: at.Add(4 * time.Hour)}
	for i := range 2 { // the second time later
		h, ok, err := s.MarkRecovered(ctx, tenant, "w1", at, at.Add(time.Duration(4+i)*time.Hour))
		if err != nil || !ok || h != recovered {
			t.Errorf("recovered: %+v, %v, %v; want %+v", h, ok, err, recovered)
		}
	}
	check(recovered)
	errtest.Fatal(t, s.MarkWorking(ctx, tenant, "w1", at))
	check(webhook.Health{})

	mark(0, true)
	disabled := webhook.Health{FailingSince: at, GivenUpSince: at, DisabledAt: at.Add(1),
		DisabledReason: webhook.ReasonGone}
	for i, reason := range []string{webhook.ReasonGone, webhook.ReasonFailing} { // the second finds it disabled
		got, err := s.Disable(ctx, tenant, "w1", reason, at.Add(time.Duration(i)+1))
		if err != nil || got.Enabled || got.Health != disabled || !got.IsDisabledByService() {
			t.Errorf("disable: %+v, %v; want disabled with %+v", got, err, disabled)
		}
	}
	// A change that began before is refused: it would enable the webhook again.
	errtest.Is(t, "save of an earlier version", errtest.Of(s.Save(ctx, w, false)), webhook.ErrChanged)
	current, err := s.Get(ctx, tenant, "w1")
	errtest.Fatal(t, err)
	current.Name = "another"
	if current, err = s.Save(ctx, current, false); err != nil || current.Health != disabled {
		t.Errorf("save: %+v, %v; want the health %+v", current.Health, err, disabled)
	}
	current.Enable()
	if current, err = s.Save(ctx, current, true); err != nil || !current.Enabled ||
		current.Health != (webhook.Health{}) {
		t.Errorf("enable: %+v, %v; want no trace of failures", current, err)
	}
	check(webhook.Health{})
}
