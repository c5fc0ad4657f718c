package document_test

import (
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/platform/document"
)

func TestURLProblem(t *testing.T) {
	for _, text := range []string{
		"http://example.com", "javascript:alert(1)", "/a", "//example.com/a", "https://", "https://:443/a",
		"https:example.com", "https://me:secret@example.com/a", " https://example.com", "https://example.com/\n",
		"ftp://example.com/a", "data:text/html,x", `https://example.com/"onclick=x`, "https://example.com/<script>",
		"https://example.com/'x'", "https://localhost/a", "https://127.0.0.1/a", "https://169.254.169.254/latest",
		"https://[fe80::1]/a", "https://[::ffff:169.254.1.1]/a", "https://2852039166/a", "https://0x7f.1/a",
		"https://１２７.１/a", // fullwidth digits, which browsers read as 127.1
		"https://ｌｏｃａｌｈｏｓｔ/a", "https://bücher.example/a", "https://example.com:65536/a",
		"https://example.com/\u202efdp",
	} {
		if document.URLProblem(text) == "" {
			t.Errorf("%q is accepted", text)
		}
	}
	for _, text := range []string{"https://example.com/a", "HTTPS://example.com",
		"https://xn--bcher-kva.example:8443/a?b#c", "https://10.0.0.1/a", "https://files/a"} {
		difftest.Equal(t, fmt.Sprintf("%q is refused", text), "", document.URLProblem(text))
	}
}
