package admission_test

import (
	"testing"

	"sluice/shared/ingest/admission"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// The slots of ingestion are those given, or those that use the write units of the table.
func TestParseLimits(t *testing.T) {
	for _, tt := range []struct {
		slots, warm string
		writers     int
		want        admission.Limits
	}{
		{"10/5 7/3/20 30/4", "12000,40000", 4, admission.Limits{Slots: 7, PerTenant: 3}},
		{"10/5 0/3/20 30/4", "", 4, admission.Limits{Slots: 2, PerTenant: 3, Most: 20}},
		{"10/5 0/3/20 30/4", "12000,31999", 4, admission.Limits{Slots: 2, PerTenant: 3, Most: 20}},
		{"10/5 0/3/20 30/4", "12000, 32000", 4, admission.Limits{Slots: 3, PerTenant: 3, Most: 20}},
		{"10/5 0/3/20 30/4", "12000,640000", 4, admission.Limits{Slots: 20, PerTenant: 3, Most: 20}},
		{"10/5 0/3/20 30/4", "12000,40000", 0, admission.Limits{Slots: 7, PerTenant: 3, Most: 20}},
	} {
		limits := errtest.Must(admission.ParseLimits(tt.slots, tt.warm, tt.writers))(t)
		small := admission.Limits{Slots: 30, PerTenant: 4}
		difftest.Equal(t, tt.slots+", "+tt.warm, map[admission.Pool]admission.Limits{
			admission.LargeValidation: {Slots: 10, PerTenant: 5}, admission.LargeIngestion: tt.want,
			admission.SmallValidation: small, admission.SmallIngestion: small,
		}, limits)
	}
	for _, bad := range [][2]string{
		{"", ""}, {"10/5 7/3 30/4", ""}, {"10/5 7/3/x 30/4", ""}, {"1/1 0/1/2 1/1", "12000"},
	} {
		errtest.Fails(t, bad[0], errtest.Of(admission.ParseLimits(bad[0], bad[1], 4)))
	}
}
