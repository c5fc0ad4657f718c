package e2e

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// sender and receiver are entities that every home of the suite onboards.
const (
	sender   = "e2e-sender"
	receiver = "e2e-receiver"
	notYet   = "e2e-not-onboarded"
)

func onboarded() []string {
	return []string{
		`{"id":"` + sender + `","lifecycleStatus":"Compliant"}`,
		`{"id":"` + receiver + `","lifecycleStatus":"ReviewInProgress"}`,
		`{"id":"` + notYet + `","lifecycleStatus":"OnboardingInProgress"}`,
	}
}

// line is a transaction that tests change one thing of.
type line map[string]any

// valid returns a new valid line between the two onboarded entities.
func valid() line {
	return line{
		"request_uuid":            uuid.NewString(),
		"payment_external_id":     uuid.NewString(),
		"transaction_external_id": uuid.NewString(),
		"payment_type":            "payout",
		"payment_source_country":  "NL",
		"sender":                  map[string]any{"by_external_id": sender},
		"receiver":                map[string]any{"by_external_id": receiver},
		"modification": map[string]any{
			"external_id": uuid.NewString(), "type": "settlement", "amount": 12.5, "currency": "EUR",
			"created_at": "2024-03-01T10:15:30.123",
		},
		"additional_fields": map[string]any{"payment_category": "goods"},
	}
}

func (l line) with(key string, value any) line {
	l[key] = value
	return l
}

func (l line) modified(key string, value any) line {
	l["modification"].(map[string]any)[key] = value
	return l
}

func (l line) modification() string {
	return l["modification"].(map[string]any)["external_id"].(string)
}
func (l line) id() string { return l["transaction_external_id"].(string) }

func (l line) String() string {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // a line of a test that is no JSON is a defect of the test
	}
	return string(text)
}

// file joins lines to a file with a final newline.
func file(lines ...fmt.Stringer) []byte {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// raw is a line that is sent as it stands.
type raw string

func (r raw) String() string { return string(r) }
