package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
)

// line is a transaction as tests send it, of which they change one thing.
type line map[string]any

// validLine returns a new valid line between the two onboarded entities.
func validLine() line {
	return line{
		"request_uuid":            uuid.NewString(),
		"payment_external_id":     uuid.NewString(),
		"transaction_external_id": uuid.NewString(),
		"payment_type":            "payout",
		"payment_source_country":  "NL",
		"sender":                  map[string]any{"by_external_id": senderID},
		"receiver":                map[string]any{"by_external_id": receiverID},
		"modification": map[string]any{
			"external_id": uuid.NewString(), "type": "settlement", "amount": 12.5, "currency": "EUR",
			"created_at": "2024-03-01T10:15:30.123",
		},
		"additional_fields": map[string]any{"payment_category": "goods"},
	}
}

// validLines returns that many new valid lines.
func validLines(n int) []line {
	lines := make([]line, n)
	for i := range lines {
		lines[i] = validLine()
	}
	return lines
}

// with changes a member of the line and returns the line.
func (l line) with(key string, value any) line {
	l[key] = value
	return l
}

// withSender names another sender and returns the line.
func (l line) withSender(id string) line {
	return l.with("sender", map[string]any{"by_external_id": id})
}

// withUnknown describes a party inside the line and returns the line.
func (l line) withUnknown(role string, party map[string]any) line {
	return l.with(role, map[string]any{"external_entity_type": "unknown", "unknown": party})
}

// withModification changes a member of the line's modification and returns the line.
func (l line) withModification(key string, value any) line {
	l["modification"].(map[string]any)[key] = value
	return l
}

func (l line) modificationID() string {
	return l["modification"].(map[string]any)["external_id"].(string)
}

func (l line) transactionID() string { return l["transaction_external_id"].(string) }

// String returns the line as JSON, without a line feed.
func (l line) String() string {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // a line that is not JSON is a defect of the test
	}
	return string(text)
}

// rawLine is a line that is sent as it is.
type rawLine string

func (r rawLine) String() string { return string(r) }

// jsonLines joins lines to a file, each with a line feed.
func jsonLines[L fmt.Stringer](lines ...L) []byte {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// hasCode reports whether a line of a report has an error with a code.
func hasCode(l client.ReportLine, code string) bool {
	return slices.ContainsFunc(l.Errors, func(e client.ReportError) bool { return e.Type == code })
}

// expectStored checks that a line of a batch can be read back as it was sent.
func (s *session) expectStored(l line, batchID string, number int64) {
	s.t.Helper()
	got, err := s.client.Transaction(s.t.Context(), l.transactionID())
	require(s.t, err == nil && len(got.Modifications) == 1, "reading line %d back: %v, %+v, want one modification",
		number, err, got)
	m := got.Modifications[0]
	assert(s.t, m.ModificationExternalID == l.modificationID() && wire.OrZero(m.BatchID) == batchID &&
		wire.OrZero(m.Line) == number,
		"line %d is stored as modification %s of line %d of batch %s, want %s of line %d of batch %s", number,
		m.ModificationExternalID, wire.OrZero(m.Line), wire.OrZero(m.BatchID), l.modificationID(), number, batchID)
	difftest.Equal(s.t, fmt.Sprintf("line %d is stored as", number), l.String(), string(m.Transaction))
	if want := (client.MainEntity{Role: "sender", ByExternalID: senderID}); m.MainEntity == nil ||
		*m.MainEntity != want {
		s.t.Errorf("line %d has the main entity %+v, want %+v", number, m.MainEntity, want)
	}
}

// expectNotStored checks that a transaction cannot be read.
func (s *session) expectNotStored(l line) {
	s.t.Helper()
	_, err := s.client.Transaction(s.t.Context(), l.transactionID())
	expectRefused(s.t, http.StatusNotFound, err)
}
