package admissiontest_test

import (
	"testing"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
)

func TestConformance(t *testing.T) {
	admissiontest.Conform(t, func(*testing.T) admission.Queue { return admissiontest.NewMemory() })
}
