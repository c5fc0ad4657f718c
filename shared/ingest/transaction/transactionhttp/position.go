package transactionhttp

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/transaction"
)

// tokenPrefix begins the text of a position that is not just the ID of a modification.
const tokenPrefix = "~"

// token is the content of such a text: base64 of it as JSON.
type token struct {
	Modification string `json:"m"`
	// Received is the receipt time of the version, in nanoseconds since 1970; 0 if the position is after the whole
	// modification.
	Received int64  `json:"t,omitempty"`
	Batch    string `json:"b,omitempty"`
}

// String returns the text of a position, which parsePosition reads. For a position between modifications it is the ID
// of the preceding one, unless that could be taken for a token.
func (p position) String() string {
	if p.version == nil {
		if _, isToken := parseToken(p.modification); !isToken {
			return p.modification
		}
	}
	t := token{Modification: p.modification}
	if p.version != nil {
		t.Received, t.Batch = p.version.ReceivedAt.UnixNano(), p.version.Batch
	}
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and a number can be encoded
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(text)
}

// parsePosition parses the text of a position. It returns false for a text that can be neither a token nor an ID.
func parsePosition(text string) (position, bool) {
	if p, isToken := parseToken(text); isToken {
		return p, true
	}
	return position{modification: text}, len(text) <= transaction.MaxIDBytes
}

func parseToken(text string) (position, bool) {
	encoded, hasPrefix := strings.CutPrefix(text, tokenPrefix)
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	var t token
	if !hasPrefix || err != nil || json.Unmarshal(decoded, &t) != nil ||
		t.Modification == "" || len(t.Modification) > transaction.MaxIDBytes {
		return position{}, false
	}
	if _, err := batch.ParseID(t.Batch); t.Batch != "" && err != nil {
		return position{}, false
	}
	p := position{modification: t.Modification}
	if t.Received != 0 {
		p.version = &transaction.Version{ReceivedAt: time.Unix(0, t.Received).UTC(), Batch: t.Batch}
	}
	return p, true
}
