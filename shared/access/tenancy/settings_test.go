package tenancy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/tenancy"
)

func TestSettingsAsAttributes(t *testing.T) {
	for _, want := range []tenancy.Settings{
		{},
		{MaxPast: time.Hour, MaxFuture: 720 * time.Hour, MainEntity: tenancy.ByPaymentType},
		{Retention: 24 * time.Hour},
		{Parquet: true},
	} {
		got, err := tenancy.ParseSettings(want.Attributes())
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	settings := tenancy.Settings{MaxPast: time.Minute, MaxFuture: time.Hour, MainEntity: tenancy.ByPaymentType}
	want := map[string]string{"maxPast": "60", "maxFuture": "3600", "mainEntity": "payment_type"}
	if diff := cmp.Diff(want, settings.Attributes()); diff != "" {
		t.Errorf("the attributes are exchanged between releases and have changed:\n%s", diff)
	}
	if got := (tenancy.Settings{Retention: time.Hour}).Attributes()["retention"]; got != "3600" {
		t.Errorf("a retention of an hour is exchanged as %q, want 3600", got)
	}
	if got := (tenancy.Settings{Parquet: true}).Attributes()["parquet"]; got != "true" {
		t.Errorf("accepted lines as Parquet are exchanged as %q, want true", got)
	}
	for _, name := range []string{"maxPast", "maxFuture", "retention"} {
		attributes := tenancy.Settings{}.Attributes()
		attributes[name] = "soon"
		if got, err := tenancy.ParseSettings(attributes); err == nil {
			t.Errorf("%s that is not a number: got %+v, want an error", name, got)
		}
	}
}

func TestExpiry(t *testing.T) {
	at := time.Date(2026, 11, 26, 8, 15, 0, 999, time.UTC)
	if got := (tenancy.Settings{}).ExpiryOf(at); !got.IsZero() {
		t.Errorf("without a retention a line expires at %s, want never", got)
	}
	want := time.Date(2026, 11, 28, 8, 15, 0, 0, time.UTC)
	if got := (tenancy.Settings{Retention: 48 * time.Hour}).ExpiryOf(at); !got.Equal(want) {
		t.Errorf("after two days a line expires at %s, want %s", got, want)
	}
}
