package webhooks

import (
	"errors"
	"strings"
	"testing"

	"sluice/internal/listener"
	"sluice/shared/kit/difftest"
)

// With --json, standard output has messages and nothing else; what is refused is told on standard error.
func TestEventPrinterSeparatesMessages(t *testing.T) {
	const message = `{"eventType":"a"}`
	for _, asJSON := range []bool{true, false} {
		var stdout, stderr strings.Builder
		l := eventPrinter{asJSON: asJSON}
		l.printTo(&stdout, &stderr)
		l.report(listener.Request{Refused: errors.New("no signature")})
		l.report(listener.Request{Body: []byte(message)})
		told := &stdout
		if asJSON {
			told = &stderr
			difftest.Equal(t, "standard output", message+"\n", stdout.String())
		}
		if !strings.Contains(told.String(), "REFUSED: no signature") {
			t.Errorf("JSON %v: got %q and %q, want the refusal", asJSON, stdout.String(), stderr.String())
		}
	}
}
