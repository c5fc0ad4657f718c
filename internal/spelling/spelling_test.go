package spelling

import (
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
)

func TestClosest(t *testing.T) {
	candidates := []string{"upload", "status", "results", "validate", "o", "report", "reject-on-invalid"}
	for word, want := range map[string]string{
		"uplaod": "upload", "Upload": "upload", "stats": "status", "result": "results", "valid": "validate",
		"x": "", "fly": "", "": "", "rport": "report", "reject": "reject-on-invalid", "generate": "",
	} {
		difftest.Equal(t, fmt.Sprintf("Closest(%q)", word), want, Closest(word, candidates))
	}
}
