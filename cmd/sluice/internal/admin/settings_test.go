package admin

import (
	"testing"

	"github.com/google/uuid"
)

func TestAdminTenantSettings(t *testing.T) {
	f := newFakeInstallation(t)
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create", "--id", f.tenant).TenantID
	defaults := newLimitsOutput(nil)
	want := settingsOutput{TenantID: tenant, MaxFutureHours: 720, limitsOutput: defaults}
	if got := runAdmin[settingsOutput](t, f, "tenant", "get", tenant); got != want {
		t.Errorf("new tenant: %+v, want %+v", got, want)
	}
	want = settingsOutput{TenantID: tenant, MainEntityByType: true, MaxPastDays: 30, FourEyes: true, RetentionDays: 400,
		Parquet: true, MaskPartial: true, limitsOutput: defaults}
	if got := runAdmin[settingsOutput](t, f, "tenant", "set", tenant, "max_past_days=30", "max_future_hours=0",
		"main_entity_by_type=true", "four_eyes=true", "retention_days=400", "parquet=true",
		"mask_partial_properties=true"); got != want {
		t.Errorf("changed tenant: %+v, want %+v", got, want)
	}
	want.MainEntityByType, want.FourEyes = false, false
	runAdmin[settingsOutput](t, f, "tenant", "set", tenant, "main_entity_by_type=false", "four_eyes=false")
	if got := runAdmin[settingsOutput](t, f, "tenant", "get", tenant); got != want {
		t.Errorf("changed back: %+v, want %+v", got, want)
	}
	for setting, message := range map[string]string{
		"delta=true": `there is no setting "delta"; there are ` + tenantSettingNames(),
		"open_batches=many": "open_batches must be a whole number from 0 to 1000000000, none (as 0: no limit) or " +
			"default, not \"many\"",
		"platform_per_second=-1": "platform_per_second must be a whole number from 0 to 1000000000, none (as 0: no " +
			"limit) or " +
			`default, not "-1"`,
		"limits=5":            `limits must be none or default, not "5"`,
		"max_past_days":       "max_past_days needs a value: max_past_days=VALUE",
		"max_past_days=-1":    `max_past_days must be a whole number from 0 to 100000, not "-1"`,
		"max_future_hours=1h": `max_future_hours must be a whole number from 0 to 1000000, not "1h"`,
		"parquet=1":           `parquet must be true or false, not "1"`,
		"four_eyes=yes":       `four_eyes must be true or false, not "yes"`,
	} {
		f.wantError(t, message, "tenant", "set", tenant, setting)
	}
	f.wantError(t, "four_eyes is given twice", "tenant", "set", tenant, "four_eyes=true", "four_eyes=false")
	f.wantError(t, "takes at least 2 arguments (TENANT KEY=VALUE...), not 1", "tenant", "set", tenant)
	f.wantError(t, "no tenant", "tenant", "get", uuid.NewString())
	f.wantError(t, "no tenant", "tenant", "set", uuid.NewString(), "four_eyes=true")
}

func TestAdminLimits(t *testing.T) {
	f := newFakeInstallation(t)
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create", "--set", "limits=none", "--set",
		"open_batches=7").TenantID
	want := settingsOutput{TenantID: tenant, MaxFutureHours: 720, limitsOutput: limitsOutput{OpenBatches: 7}}
	if got := runAdmin[settingsOutput](t, f, "tenant", "get", tenant); got != want {
		t.Errorf("a tenant without limits but one: %+v, want %+v", got, want)
	}
	want.UnvalidatedBytes, want.PlatformPerSecond, want.OpenBatches = 5_000_000_000, 200, 0
	if got := runAdmin[settingsOutput](t, f, "tenant", "set", tenant, "unvalidated_bytes=5000000000",
		"open_batches=none", "platform_per_second=default"); got != want {
		t.Errorf("changed limits: %+v, want %+v", got, want)
	}
	want.limitsOutput = newLimitsOutput(nil)
	want.BatchResultsPerMinute = 1
	if got := runAdmin[settingsOutput](t, f, "tenant", "set", tenant, "limits=default",
		"batch_results_per_minute=1"); got != want {
		t.Errorf("the defaults but one: %+v, want %+v", got, want)
	}
	f.wantError(t, "there is no setting", "tenant", "create", "--set", "nothing=1")
}
