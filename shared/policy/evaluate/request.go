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

// reading is a value that has been looked up: any number of texts, and the items of collections.
type reading struct {
	// generation is the generation of the frame when the value was looked up.
	generation uint32
	// isDefined means that the key is there, with any value.
	isDefined bool
	// hasMembers means that the value is a group with a value in it.
	hasMembers bool
	// isList means that the texts are the elements of a list, also if there is one or none.
	isList bool
	// size is the work of comparing all texts with one text, in the units of maxWork.
	size int
	// count is the number of texts. A single text is in one, so that it needs no memory of its own; several are in
	// many.
	count int
	one   [1]text
	many  []text
	// quantity is the quantity of the single text; it is valid once hasQuantity is set.
	quantity    quantity
	hasQuantity bool
	// items are the items of collections, in any order.
	items []node
	// cache holds values computed from the texts. It is nil until one is needed.
	cache *readingCache
}

// readingCache holds values that are computed from a reading when they are first needed.
type readingCache struct {
	folded      string
	isFolded    bool
	values, ids *textSet
	extremes    *extremes
}

// text is one value and the ID of its list entry.
type text struct {
	value, id       string
	hasValue, hasID bool
}

// isEmpty reports whether there is neither a value nor an ID.
func (t *text) isEmpty() bool { return t.value == "" && t.id == "" }

// texts returns the values.
func (r *reading) texts() []text {
	if r.count == 1 {
		return r.one[:]
	}
	return r.many
}

func (r *reading) add(t text) {
	r.size += 1 + len(t.value)/bytesPerWork
	if r.count++; r.count == 1 {
		r.one[0] = t
		return
	}
	if r.count == 2 {
		r.many = append(r.many, r.one[0])
	}
	r.many = append(r.many, t)
}

// isOneText reports whether there is one value, and not as an element of a list.
func (r *reading) isOneText() bool { return r.count == 1 && !r.isList && r.one[0].hasValue }

// isEmpty reports whether there is no value, or an empty one.
func (r *reading) isEmpty() bool {
	if r.hasMembers || len(r.items) > 0 {
		return false
	}
	all := r.texts()
	for i := range all {
		if !all[i].isEmpty() {
			return false
		}
	}
	return true
}

// length returns how many items a collection, or how many values a list has.
func (r *reading) length() int {
	switch {
	case len(r.items) > 0:
		return len(r.items)
	case r.count == 1 && !r.isList && r.one[0].isEmpty():
		return 0
	default:
		return r.count
	}
}

// anyIn reports whether one of the values or one of the IDs is in its set.
func (r *reading) anyIn(values, ids *textSet) bool {
	all := r.texts()
	for i := range all {
		if all[i].hasValue && values.has(all[i].value) || all[i].hasID && ids.has(all[i].id) {
			return true
		}
	}
	return false
}

func (r *reading) cached() *readingCache {
	if r.cache == nil {
		r.cache = &readingCache{}
	}
	return r.cache
}

// folded returns the first value folded.
func (r *reading) folded() string {
	c := r.cached()
	if !c.isFolded {
		c.folded, c.isFolded = fold(r.one[0].value), true
	}
	return c.folded
}

// oneQuantity returns the quantity that the only text is.
func (r *reading) oneQuantity() *quantity {
	if !r.hasQuantity {
		r.quantity, r.hasQuantity = quantityOf(r.one[0].value), true
	}
	return &r.quantity
}

// sets returns the values and the IDs as sets.
func (r *reading) sets() (values, ids *textSet) {
	c := r.cached()
	if c.values == nil {
		var allValues, allIDs []string
		for _, t := range r.texts() {
			if t.hasValue {
				allValues = append(allValues, t.value)
			}
			if t.hasID {
				allIDs = append(allIDs, t.id)
			}
		}
		c.values, c.ids = newTextSet(allValues), newTextSet(allIDs)
	}
	return c.values, c.ids
}

// extremes returns the least and the greatest of the values.
func (r *reading) extremes() *extremes {
	c := r.cached()
	if c.extremes == nil {
		c.extremes = &extremes{}
		for _, t := range r.texts() {
			if q := quantityOf(t.value); q.kind != noQuantity {
				c.extremes.add(q)
			}
		}
	}
	return c.extremes
}
