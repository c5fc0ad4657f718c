package batch_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/batch"
	"sluice/shared/transaction"
)

func TestSettingsAsAttributes(t *testing.T) {
	for _, want := range []batch.Settings{
		{},
		{MaxPast: time.Hour, MaxFuture: 720 * time.Hour, MainEntity: transaction.ByPaymentType},
	} {
		got, err := batch.ParseSettings(want.Attributes())
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	settings := batch.Settings{MaxPast: time.Minute, MaxFuture: time.Hour, MainEntity: transaction.ByPaymentType}
	want := map[string]string{"maxPast": "60", "maxFuture": "3600", "mainEntity": "payment_type"}
	if diff := cmp.Diff(want, settings.Attributes()); diff != "" {
		t.Errorf("the attributes are exchanged between releases and have changed:\n%s", diff)
	}
	for _, name := range []string{"maxPast", "maxFuture"} {
		attributes := batch.Settings{}.Attributes()
		attributes[name] = "soon"
		if got, err := batch.ParseSettings(attributes); err == nil {
			t.Errorf("%s that is not a number: got %+v, want an error", name, got)
		}
	}
}
