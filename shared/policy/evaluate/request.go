package evaluate

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/platform/property"
)

// Request is what is evaluated: an entity, what is known about it, and which parts of the policy are asked for. The
// zero value of an option leaves it off. docs/contract/policy.md explains the members.
type Request struct {
	// JourneyID is that of the journey of which the materiality is read; "" if there is none to read.
	JourneyID string
	// TargetEntity is one of policy.TargetEntities: what the entity is in the journey. Empty means that fields for any
	// target take part.
	TargetEntity string
	// EvaluateJurisdictions asks for the jurisdictions whose conditions are met; Jurisdictions is then ignored.
	EvaluateJurisdictions bool
	// Jurisdictions are the IDs of those in which the entity is evaluated, in upper or lower case. Empty means that
	// fields of any jurisdiction take part, unless EvaluateJurisdictions is set.
	Jurisdictions []string
	// Categories are those of which fields take part. Empty means any.
	Categories []string
	// Properties are those of the entity.
	Properties property.Split
	// DataSources are the values that operands with a data source read, by the names of the sources.
	DataSources map[string]jsontext.Value

	// JourneyLevelDataOnly leaves out the fields of the policy itself that are not marked IsJourneyLevelData.
	JourneyLevelDataOnly bool
	// SkipValuesEvaluation leaves out default, conditional and calculated values.
	SkipValuesEvaluation bool
	// ReturnValidationErrors asks what the rules say about the values that are there.
	ReturnValidationErrors bool
	// DisableFilteringForConditionalValues lets conditions of conditional values see the values of fields that do not
	// take part.
	DisableFilteringForConditionalValues bool
	// EnableAccessLayersFiltering leaves out the fields whose layers the caller lacks, except sensitive ones, which are
	// masked with or without it.
	EnableAccessLayersFiltering bool
	// Explain asks for the IDs of the conditions that decided, as DecidedBy of what they decided.
	Explain bool

	// Layers are the access layers of the caller.
	Layers access.Layers
	// Now is the moment with which rules compare dates.
	Now time.Time
}

// MaterialityReader reads from the screening area what people found out about an entity in a journey.
type MaterialityReader interface {
	// ReadMateriality returns the materiality of an entity in a journey, or of the main entity of the journey's newest
	// screening batch if entityID is empty. It returns nil if nobody has screened the entity, or if a caller with these
	// layers cannot reach it. It may be called at the same time by several evaluations.
	ReadMateriality(ctx context.Context, journeyID, entityID string, layers access.Layers) (*Materiality, error)
}

// Materiality is the data source screeningMateriality. What nobody has assessed is empty.
type Materiality struct {
	// MainEntity reports whether the entity is the main legal entity of its screening batch.
	MainEntity bool `json:"mainEntity"`
	// MaterialityOutcome sums up all categories. It and the statuses are written as in package screening.
	MaterialityOutcome string `json:"materialityOutcome,omitempty"`

	PEPMaterialityStatus          string `json:"pepMaterialityStatus,omitempty"`
	SanctionsMaterialityStatus    string `json:"sanctionsMaterialityStatus,omitempty"`
	AdverseMediaMaterialityStatus string `json:"adverseMediaMaterialityStatus,omitempty"`
	EnforcementsMaterialityStatus string `json:"enforcementsMaterialityStatus,omitempty"`
	OtherMaterialityStatus        string `json:"otherMaterialityStatus,omitempty"`

	PEPMaterialityJurisdictions          []string `json:"pepMaterialityJurisdictions,omitempty"`
	SanctionsMaterialityJurisdictions    []string `json:"sanctionsMaterialityJurisdictions,omitempty"`
	AdverseMediaMaterialityJurisdictions []string `json:"adverseMediaMaterialityJurisdictions,omitempty"`
	EnforcementsMaterialityJurisdictions []string `json:"enforcementsMaterialityJurisdictions,omitempty"`
	OtherMaterialityJurisdictions        []string `json:"otherMaterialityJurisdictions,omitempty"`

	// SanctionsProceedDecision is "true" or "false": whether people decided to proceed in spite of sanctions.
	SanctionsProceedDecision string `json:"sanctionsProceedDecision,omitempty"`
}
