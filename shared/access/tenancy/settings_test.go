package tenancy_test

import (
	"testing"
	"time"

	"sluice/shared/access/tenancy"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestSettingsAsAttributes(t *testing.T) {
	for _, want := range []tenancy.Settings{
		{},
		{MaxPast: time.Hour, MaxFuture: 720 * time.Hour, MainEntity: tenancy.ByPaymentType},
		{Retention: 24 * time.Hour},
		{Parquet: true},
	} {
		difftest.Equal(t, "result", want, errtest.Must(tenancy.ParseSettings(want.Attributes()))(t))
	}
	settings := tenancy.Settings{MaxPast: time.Minute, MaxFuture: time.Hour, MainEntity: tenancy.ByPaymentType}
	want := map[string]string{"maxPast": "60", "maxFuture": "3600", "mainEntity": "payment_type"}
	difftest.Equal(t, "the attributes are exchanged between releases and have changed", want, settings.Attributes())
	difftest.Equal(t, "a retention of an hour is exchanged as", "3600",
		(tenancy.Settings{Retention: time.Hour}).Attributes()["retention"])
	difftest.Equal(t, "accepted lines as Parquet are exchanged as", "true",
		(tenancy.Settings{Parquet: true}).Attributes()["parquet"])
	for _, name := range []string{"maxPast", "maxFuture", "retention"} {
		attributes := tenancy.Settings{}.Attributes()
		attributes[name] = "soon"
		errtest.Fails(t, name+" that is not a number", errtest.Of(tenancy.ParseSettings(attributes)))
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
