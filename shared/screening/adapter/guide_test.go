package adapter_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening/adapter"
)

// The service opens messages that the Python of docs/adapters.md seals, and so does that.
func TestGuide(t *testing.T) {
	t.Parallel()
	if err := exec.Command("python3", "-c", "import cryptography").Run(); err != nil {
		t.Skip("python3 with the package cryptography is not installed")
	}
	page, err := os.ReadFile("../../../docs/adapters.md")
	errtest.Fatal(t, err)
	_, code, _ := strings.Cut(string(page), "```python\n")
	code, _, found := strings.Cut(code, "```")
	if !found {
		t.Fatal("the guide has no Python")
	}
	program := code + "\nimport sys\ns = seal(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3])\n" +
		"opened = unseal(s['response'], s['X-ENCRYPTION-IV'], s['X-AUTHENTICATION-MAC'], sys.argv[2], sys.argv[3])\n" +
		"assert opened == json.loads(sys.argv[1]), opened\nprint(json.dumps(s))\n"
	text := `{"batchId":"` + batchID + `","matches":[]}`
	out, err := exec.CommandContext(t.Context(), "python3", "-c", program, text, encryptionKey,
		authenticationKey).Output()
	errtest.Fatal(t, err)
	var sealed map[string]string
	if err := json.Unmarshal(out, &sealed); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	a, err := openAnswer(newKeys(t), adapter.Sealed{Data: sealed["response"], IV: sealed["X-ENCRYPTION-IV"],
		MAC: sealed["X-AUTHENTICATION-MAC"]}, adapter.Success)
	if err != nil || a.BatchID != batchID || a.Matches == nil {
		t.Errorf("got %+v, %v, want the answer", a, err)
	}
}
