package screeninghttp

import (
	"time"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/property"
	"sluice/shared/screening"
)

// Created is the reply to a new batch.
type Created struct {
	BatchID string `json:"batchId"`
}

// BatchReply is a batch.
type BatchReply struct {
	ID                       string                 `json:"id"`
	Entities                 []EntityReply          `json:"entities"`
	TotalEntities            int                    `json:"totalEntities"`
	Status                   screening.Status       `json:"status"`
	Providers                []ProviderReply        `json:"providers"`
	ExternalIDs              []screening.ExternalID `json:"externalIds"`
	BatchType                string                 `json:"batchType"`
	CreatedDate              time.Time              `json:"createdDate"`
	ClosedDate               *time.Time             `json:"closedDate"`
	OverriddenBatchIDs       []string               `json:"overriddenBatchIds"`
	JourneyID                *string                `json:"journeyId"`
	JourneyType              *string                `json:"journeyType"`
	JourneyMainLegalEntityID *string                `json:"journeyMainLegalEntityId"`
	ProcessID                *string                `json:"processId"`
	TransactionID            *string                `json:"transactionId"`
	TrueMatchesCount         int                    `json:"trueMatchesCount"`
	Metadata                 MetadataReply          `json:"metadata"`
}

// ProviderReply is the search of a provider.
type ProviderReply struct {
	ID                 string                   `json:"id"`
	Status             screening.ProviderStatus `json:"status"`
	ErrorDetails       *ErrorReply              `json:"errorDetails"`
	ConfigurationSetID *string                  `json:"configurationSetId"`
}

// ErrorReply is the reason why the search of a provider failed.
type ErrorReply struct {
	Source    string `json:"source"`
	ErrorCode string `json:"errorCode"`
	Message   string `json:"message"`
}

// MetadataReply is the metadata of a batch.
type MetadataReply struct {
	SourceEventCorrelationID *string        `json:"sourceEventCorrelationId"`
	AutonomyLevel            string         `json:"autonomyLevel"`
	TotalMatchesForProvider  map[string]int `json:"totalMatchesForProvider"`
}

// autonomyLevel is the same for every batch: people resolve all matches.
const autonomyLevel = "Manual"

func batchReplyOf(b screening.Batch, entities []EntityReply) BatchReply {
	counts := map[string]int{}
	for _, p := range b.Providers {
		counts[p.ID] = p.Matches
	}
	return BatchReply{
		ID: b.ID, Entities: entities, TotalEntities: len(b.EntityIDs), Status: b.Status, Providers: providerReplies(b),
		ExternalIDs: []screening.ExternalID{}, BatchType: b.Type, CreatedDate: b.CreatedAt,
		ClosedDate: platform.OrNull(b.ClosedAt), OverriddenBatchIDs: platform.OrEmpty(b.OverriddenIDs),
		JourneyID: platform.OrNull(b.JourneyID), JourneyType: platform.OrNull(b.JourneyType),
		JourneyMainLegalEntityID: platform.OrNull(b.MainEntityID), ProcessID: platform.OrNull(b.ProcessID),
		TrueMatchesCount: b.TrueMatches,
		Metadata: MetadataReply{SourceEventCorrelationID: platform.OrNull(b.CorrelationID),
			AutonomyLevel: autonomyLevel, TotalMatchesForProvider: counts},
	}
}

func providerReplies(b screening.Batch) []ProviderReply {
	out := make([]ProviderReply, len(b.Providers))
	for i, p := range b.Providers {
		out[i] = ProviderReply{ID: p.ID, Status: p.Status, ConfigurationSetID: platform.OrNull(p.ConfigurationSetID)}
		if p.Error != nil {
			out[i].ErrorDetails = &ErrorReply{p.Error.Source, p.Error.Code, p.Error.Message}
		}
	}
	return out
}

// EntityBatchReply is a batch in the list of an entity.
type EntityBatchReply struct {
	BatchID              string           `json:"batchId"`
	BatchType            string           `json:"batchType"`
	BatchStatus          screening.Status `json:"batchStatus"`
	Providers            []ProviderReply  `json:"providers"`
	MaterialMatchesCount int              `json:"materialMatchesCount"`
	BatchClosedDate      *time.Time       `json:"batchClosedDate"`
	TransactionID        *string          `json:"transactionId"`
}

func entityBatchReplyOf(b screening.Batch, trueMatches int) EntityBatchReply {
	return EntityBatchReply{
		BatchID: b.ID, BatchType: b.Type, BatchStatus: b.Status, Providers: providerReplies(b),
		MaterialMatchesCount: trueMatches, BatchClosedDate: platform.OrNull(b.ClosedAt),
	}
}

// EntityReply is an entity of a batch.
type EntityReply struct {
	ID             string                   `json:"id"`
	LegalEntityID  *string                  `json:"legalEntityId"`
	EntityName     string                   `json:"entityName"`
	ExternalIDs    []screening.ExternalID   `json:"externalIds"`
	SearchCriteria screening.SearchCriteria `json:"searchCriteria"`
	EntityAliases  []screening.Alias        `json:"entityAliases"`
	// MaterialityAssessment has properties by the ID of the entity that they are about.
	MaterialityAssessment           map[string]map[string]property.Property `json:"materialityAssessment"`
	EntityMaterialityAssessment     *AssessmentReply                        `json:"entityMaterialityAssessment"`
	MaterialityTaskEscalatedDetails *EscalationReply                        `json:"materialityTaskEscalatedDetails"`
	ImpactedClients                 []ImpactedClientReply                   `json:"impactedClients"`
}

func entityReplyOf(e screening.Entity) EntityReply {
	out := EntityReply{
		ID: e.ID, LegalEntityID: platform.OrNull(e.LegalEntityID), EntityName: e.Criteria.Name(),
		ExternalIDs: []screening.ExternalID{}, SearchCriteria: e.Criteria, EntityAliases: platform.OrEmpty(e.Aliases),
		MaterialityAssessment: e.Materiality, EntityMaterialityAssessment: assessmentReplyOf(e.Assessment),
		ImpactedClients: []ImpactedClientReply{},
	}
	if out.MaterialityAssessment == nil {
		out.MaterialityAssessment = map[string]map[string]property.Property{}
	}
	if x := e.Escalation; x != nil {
		out.MaterialityTaskEscalatedDetails = &EscalationReply{x.TeamID, platform.OrNull(x.UserID), x.Comment, x.By,
			x.At}
	}
	for _, c := range e.ImpactedClients {
		out.ImpactedClients = append(out.ImpactedClients,
			ImpactedClientReply{c.LegalEntityID, c.IsSelected, platform.OrNull(c.ReasonForNoFollowUp)})
	}
	return out
}

// MatchReply is a match.
type MatchReply struct {
	ID                         string                `json:"id"`
	EntityAliasIDs             []string              `json:"entityAliasIds"`
	EntityUniqueID             string                `json:"entityUniqueId"`
	Status                     screening.MatchStatus `json:"status"`
	Reason                     *string               `json:"reason"`
	Comments                   *string               `json:"comments"`
	MatchData                  screening.MatchData   `json:"matchData"`
	LastActionedBy             *ActionReply          `json:"lastActionedBy"`
	ClassificationData         ClassificationReply   `json:"classificationData"`
	ClassificationDataReviewed bool                  `json:"classificationDataReviewed"`
}

// ActionReply is the last action on a match.
type ActionReply struct {
	ID                      string    `json:"id"`
	Type                    string    `json:"type"`
	ReusedFromPreviousBatch bool      `json:"reusedFromPreviousBatch"`
	ActionedOn              time.Time `json:"actionedOn"`
}

// ClassificationReply holds values that the institution gave to a match.
type ClassificationReply struct {
	SingleProperties map[string]screening.Label `json:"singleProperties"`
}

func matchReplyOf(m screening.Match) MatchReply {
	r := m.Resolution
	out := MatchReply{
		ID: m.ID, EntityAliasIDs: platform.OrEmpty(m.AliasIDs), EntityUniqueID: m.UniqueID, Status: r.Status,
		Reason: platform.OrNull(r.Reason), Comments: platform.OrNull(r.Comments), MatchData: m.Data.WithLists(),
		ClassificationData: ClassificationReply{r.Classification}, ClassificationDataReviewed: r.ClassificationReviewed,
	}
	if out.ClassificationData.SingleProperties == nil {
		out.ClassificationData.SingleProperties = map[string]screening.Label{}
	}
	if a := r.Action; a != nil {
		out.LastActionedBy = &ActionReply{a.By, a.Type, a.Reused, a.At}
	}
	return out
}
