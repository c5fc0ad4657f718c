// Package evaluate evaluates a version of a policy for an entity: which fields it has, which values they get, and what
// is wrong with the values that are there. Compile turns the contents of a version into a Program, once; a Program
// evaluates any number of requests at the same time. The package knows neither HTTP nor AWS.
package evaluate

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/property"
)

// Request is what is evaluated. docs/contract/policy.md explains its members.
type Request struct {
	JourneyID string
	// TargetEntity is one of policy.TargetEntities, or "" for fields of any.
	TargetEntity          string
	EvaluateJurisdictions bool
	Jurisdictions         []string
	Categories            []string
	Properties            property.Split
	// DataSources are the values by the names of the sources.
	DataSources map[string]jsontext.Value

	JourneyLevelDataOnly                 bool
	SkipValuesEvaluation                 bool
	ReturnValidationErrors               bool
	DisableFilteringForConditionalValues bool
	EnableAccessLayersFiltering          bool
	// Explain asks for the conditions that decided.
	Explain bool

	// Layers are those of the caller.
	Layers access.Layers
	// Now is the moment with which dates are compared.
	Now time.Time
}

// MaterialityReader reads the materiality assessment of the entity of a journey from the screening area, in the form of
// the data source screeningMateriality.
type MaterialityReader interface {
	// ReadMateriality returns nil if the caller cannot reach the batch, or if there is none.
	ReadMateriality(ctx context.Context, journeyID, entityID string, layers access.Layers) (*Materiality, error)
}

// Materiality is the data source screeningMateriality.
type Materiality struct {
	MainEntity         bool   `json:"mainEntity"`
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

	SanctionsProceedDecision string `json:"sanctionsProceedDecision,omitempty"`
}
