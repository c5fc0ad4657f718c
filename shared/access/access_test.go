package access_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
)

func layers(geographic, business string) access.Layers {
	var l access.Layers
	if geographic != "" {
		l.Geographic = []string{geographic}
	}
	if business != "" {
		l.BusinessRelated = []string{business}
	}
	return l
}

func TestReach(t *testing.T) {
	for _, tt := range []struct {
		caller, object access.Layers
		want           bool
	}{
		{layers("", ""), layers("", ""), true},
		{layers("Ireland", "Retail"), layers("", ""), true},
		{layers("Ireland", "Retail"), layers("Global", "Enterprise"), true},
		{layers("Ireland", "Retail"), layers("Ireland", "Retail"), true},
		{layers("Ireland", "Retail"), layers("Ireland", "Corporate"), false},
		{layers("Ireland", "Retail"), layers("Spain", "Retail"), false},
		{layers("Ireland", "Retail"), layers("Ireland", ""), true},
		{layers("Global", "Enterprise"), layers("Ireland", "Enterprise"), false},
		{layers("Global", "Enterprise"), layers("ireland", "Enterprise"), false},
	} {
		if got := tt.caller.CanReach(tt.object); got != tt.want {
			t.Errorf("%v reaches %v: %v", tt.caller, tt.object, got)
		}
	}
}

func TestWidenAndDefault(t *testing.T) {
	got := layers("Ireland", "").OrDefault().Widen(layers("Spain", "Enterprise")).Widen(layers("Ireland", ""))
	want := access.Layers{Geographic: []string{"Ireland", "Spain"}, BusinessRelated: []string{"Enterprise"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
