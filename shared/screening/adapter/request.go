package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sluice/shared/screening"
)

// ScreenData is the data of a message of the type Screen: the search for the provider.
type ScreenData struct {
	BatchID                    string `json:"batchId"`
	JourneyID                  string `json:"journeyId,omitempty"`
	ProcessID                  string `json:"processId,omitempty"`
	JourneyType                string `json:"journeyType,omitempty"`
	JourneyMainLegalEntityID   string `json:"journeyMainLegalEntityId,omitempty"`
	JourneyMainLegalEntityName string `json:"journeyMainLegalEntityName,omitempty"`
	// ConfigurationSetID and Settings are the settings of the search.
	ConfigurationSetID string            `json:"configurationSetId,omitempty"`
	Settings           map[string]string `json:"settings"`
	Entities           []ScreenEntity    `json:"entities"`
}

// ScreenEntity is an entity to search for.
type ScreenEntity struct {
	EntityID       string                   `json:"entityId"`
	LegalEntityID  string                   `json:"legalEntityId,omitempty"`
	SearchCriteria screening.SearchCriteria `json:"searchCriteria"`
	EntityAliases  []screening.Alias        `json:"entityAliases"`
}

// ResolveData is the data of a message of the type ResolveMatches: resolutions of the provider's matches.
type ResolveData struct {
	BatchID string          `json:"batchId"`
	Matches []ResolvedMatch `json:"matches"`
}

// ResolvedMatch is the resolution of a match.
type ResolvedMatch struct {
	EntityID                   string                     `json:"entityId"`
	MatchID                    string                     `json:"matchId"`
	EntityUniqueID             string                     `json:"entityUniqueId"`
	Status                     screening.MatchStatus      `json:"status"`
	Reason                     string                     `json:"reason"`
	Comments                   string                     `json:"comments"`
	ClassificationData         map[string]screening.Label `json:"classificationData"`
	ClassificationDataReviewed bool                       `json:"classificationDataReviewed"`
	ActionedBy                 string                     `json:"actionedBy"`
	ActionedOn                 time.Time                  `json:"actionedOn"`
}

// TestData is the data of a message of the type Test.
type TestData struct {
	// BatchID is the ID of the message: there is no batch.
	BatchID string `json:"batchId"`
}

// NewScreenData returns the search for a provider, with the settings of one of its sets.
func NewScreenData(b screening.Batch, set screening.ConfigurationSet, entities []screening.Entity) ScreenData {
	d := ScreenData{BatchID: b.ID, JourneyID: b.JourneyID, ProcessID: b.ProcessID, JourneyType: b.JourneyType,
		JourneyMainLegalEntityID: b.MainEntityID, JourneyMainLegalEntityName: b.MainEntityName,
		ConfigurationSetID: set.ID, Settings: map[string]string{}, Entities: []ScreenEntity{}}
	for _, s := range set.Settings {
		d.Settings[s.FieldID] = s.Value
	}
	for _, e := range entities {
		d.Entities = append(d.Entities, ScreenEntity{e.ID, e.LegalEntityID, e.Criteria,
			append([]screening.Alias{}, e.Aliases...)})
	}
	return d
}

// NewResolvedMatch returns the resolution of a match.
func NewResolvedMatch(m screening.Match) ResolvedMatch {
	r := ResolvedMatch{EntityID: m.EntityID, MatchID: m.ID, EntityUniqueID: m.UniqueID, Status: m.Resolution.Status,
		Reason: m.Resolution.Reason, Comments: m.Resolution.Comments, ClassificationData: m.Resolution.Classification,
		ClassificationDataReviewed: m.Resolution.ClassificationReviewed}
	if a := m.Resolution.Action; a != nil {
		r.ActionedBy, r.ActionedOn = a.By, a.At
	}
	if r.ClassificationData == nil {
		r.ClassificationData = map[string]screening.Label{}
	}
	return r
}

const (
	// compressFrom is the least size of compressed data.
	compressFrom = 16 << 10
	// MaxRequestBytes is the size of the largest body that an adapter is sent.
	MaxRequestBytes = 16 << 20
)

// NewRequest returns the call of the adapter of a provider whose keys are revealed. Its errors are about the
// configuration, or a message that is too large.
func NewRequest(ctx context.Context, p screening.Provider, t Type, batchID string, data any) (*http.Request, error) {
	keys, err := KeysOf(p)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	var s Sealed
	if keys != nil {
		s, err = keys.Seal(text, len(text) >= compressFrom)
	} else {
		s.Data, err = Encode(text, len(text) >= compressFrom)
	}
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(Message{Data: s.Data, ID: batchID, Tenant: p.Tenant, ProviderID: p.ID, Type: t})
	if err != nil {
		return nil, err
	}
	if len(body) > MaxRequestBytes {
		return nil, fmt.Errorf("the message would have %d bytes; at most %d are sent", len(body), MaxRequestBytes)
	}
	path := ScreenPath
	if t == ResolveMatches {
		path = ResolveMatchesPath
	}
	url := strings.TrimRight(p.Adapter.URL, "/") + path
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the URL of the adapter is not valid")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(TenantHeader, p.Tenant)
	r.Header.Set(ProviderHeader, p.ID)
	if keys != nil {
		r.Header.Set(IVHeader, s.IV)
		r.Header.Set(MACHeader, s.MAC)
	}
	return r, nil
}
