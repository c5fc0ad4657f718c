package evaluate

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/platform/property"
)

// Request is the input of an evaluation: an entity, data about it, and the requested parts of the policy. The
// zero value of an option leaves it off. docs/contract/policy.md explains the members.
type Request struct {
	// JourneyID is the journey whose materiality is read; "" if there is none to read.
	JourneyID string
	// TargetEntity is one of policy.TargetEntities: the role of the entity in the journey. Empty means that fields for
	// any target take part.
	TargetEntity string
	// EvaluateJurisdictions asks for the jurisdictions whose conditions are met; Jurisdictions is then ignored.
	EvaluateJurisdictions bool
	// Jurisdictions are the IDs of the jurisdictions of the evaluation, in upper or lower case. Empty means that
	// fields of any jurisdiction take part, unless EvaluateJurisdictions is set.
	Jurisdictions []string
	// Categories select the fields that take part. Empty means any.
	Categories []string
	// Properties are the properties of the entity.
	Properties property.Split
	// DataSources are the values that operands with a data source read, by the names of the sources.
	DataSources map[string]jsontext.Value

	// JourneyLevelDataOnly leaves out the fields of the policy itself that are not marked IsJourneyLevelData.
	JourneyLevelDataOnly bool
	// SkipValuesEvaluation leaves out default, conditional and calculated values.
	SkipValuesEvaluation bool
	// ReturnValidationErrors asks for the errors of values by the rules.
	ReturnValidationErrors bool
	// DisableFilteringForConditionalValues lets conditions of conditional values see the values of fields that do not
	// take part.
	DisableFilteringForConditionalValues bool
	// EnableAccessLayersFiltering leaves out the fields whose layers the caller lacks, except sensitive ones, which are
	// masked with or without it.
	EnableAccessLayersFiltering bool
	// Explain asks for the IDs of the conditions that decided, in DecidedBy.
	Explain bool

	// Layers are the access layers of the caller.
	Layers access.Layers
	// Now is the present time for rules about dates.
	Now time.Time
}

// MaterialityReader reads the materiality of an entity in a journey from the screening area.
type MaterialityReader interface {
	// ReadMateriality returns the materiality of an entity in a journey, or of the main entity of the journey's newest
	// screening batch if entityID is empty. It returns nil if nobody has screened the entity, or if a caller with these
	// layers cannot reach it. It may be called at the same time by several evaluations.
	ReadMateriality(ctx context.Context, journeyID, entityID string, layers access.Layers) (*Materiality, error)
}

// Materiality is the data source screeningMateriality. Categories that nobody has assessed are empty.
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
