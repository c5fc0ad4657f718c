package access_test

import (
	"fmt"
	"testing"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
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
		difftest.Equal(t, fmt.Sprintf("%v reaches %v", tt.caller, tt.object), tt.want, tt.caller.CanReach(tt.object))
	}
}

func TestWidenAndDefault(t *testing.T) {
	got := layers("Ireland", "").OrDefault().Widen(layers("Spain", "Enterprise")).Widen(layers("Ireland", ""))
	want := access.Layers{Geographic: []string{"Ireland", "Spain"}, BusinessRelated: []string{"Enterprise"}}
	difftest.Equal(t, "result", want, got)
}
