package main

import (
	"testing"

	"github.com/google/uuid"
)

func TestAdminTenantSettings(t *testing.T) {
	f := newFakeInstallation(t)
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create", "--id", f.tenant).TenantID
	want := settingsOutput{TenantID: tenant, MaxFutureHours: 720}
	if got := runAdmin[settingsOutput](t, f, "tenant", "get", tenant); got != want {
		t.Errorf("new tenant: %+v, want %+v", got, want)
	}
	want = settingsOutput{TenantID: tenant, MainEntityByType: true, MaxPastDays: 30, FourEyes: true}
	if got := runAdmin[settingsOutput](t, f, "tenant", "set", tenant, "max_past_days=30", "max_future_hours=0",
		"main_entity_by_type=true", "four_eyes=true"); got != want {
		t.Errorf("changed tenant: %+v, want %+v", got, want)
	}
	want.MainEntityByType, want.FourEyes = false, false
	runAdmin[settingsOutput](t, f, "tenant", "set", tenant, "main_entity_by_type=false", "four_eyes=false")
	if got := runAdmin[settingsOutput](t, f, "tenant", "get", tenant); got != want {
		t.Errorf("changed back: %+v, want %+v", got, want)
	}
	for setting, message := range map[string]string{
		"parquet=true": `there is no setting "parquet"; there are main_entity_by_type, max_past_days, max_future_hours, ` +
			"four_eyes",
		"max_past_days":       "max_past_days needs a value: max_past_days=VALUE",
		"max_past_days=-1":    `max_past_days must be a whole number from 0 to 100000, not "-1"`,
		"max_future_hours=1h": `max_future_hours must be a whole number from 0 to 1000000, not "1h"`,
		"four_eyes=yes":       `four_eyes must be true or false, not "yes"`,
	} {
		f.wantError(t, message, "tenant", "set", tenant, setting)
	}
	f.wantError(t, "four_eyes is given twice", "tenant", "set", tenant, "four_eyes=true", "four_eyes=false")
	f.wantError(t, "takes at least 2 arguments (TENANT KEY=VALUE...), not 1", "tenant", "set", tenant)
	f.wantError(t, "no tenant", "tenant", "get", uuid.NewString())
	f.wantError(t, "no tenant", "tenant", "set", uuid.NewString(), "four_eyes=true")
}
