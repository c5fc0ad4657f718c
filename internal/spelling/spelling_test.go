package spelling

import "testing"

func TestClosest(t *testing.T) {
	candidates := []string{"upload", "status", "results", "validate", "o", "report", "reject-on-invalid"}
	for word, want := range map[string]string{
		"uplaod": "upload", "Upload": "upload", "stats": "status", "result": "results", "valid": "validate",
		"x": "", "fly": "", "": "", "rport": "report", "reject": "reject-on-invalid", "generate": "",
	} {
		if got := Closest(word, candidates); got != want {
			t.Errorf("Closest(%q) = %q, want %q", word, got, want)
		}
	}
}
