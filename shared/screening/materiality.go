package screening

import "time"

// Materiality is the assessment of a category of risk of an entity.
type Materiality string

// The materialities, from the one that outweighs all others.
const (
	Material      Materiality = "Material"
	Immaterial    Materiality = "Immaterial"
	NoMateriality Materiality = "None"
)

// Combine returns the materiality of several: the one that outweighs the others. None of them gives NoMateriality.
func Combine(all ...Materiality) Materiality {
	combined := NoMateriality
	for _, m := range all {
		if m == Material || m == Immaterial && combined == NoMateriality {
			combined = m
		}
	}
	return combined
}

// Category is a category of risk.
type Category string

// The categories of risk, by the names of their members in an assessment.
const (
	PEP          Category = "pep"
	Sanctions    Category = "sanctions"
	AdverseMedia Category = "adverseMedia"
	Enforcements Category = "enforcements"
	Other        Category = "other"
)

// Categories lists the categories of risk.
var Categories = []Category{PEP, Sanctions, AdverseMedia, Enforcements, Other}

// Assessment is the materiality of the findings about an entity. Only storage uses its JSON form.
type Assessment struct {
	// Categories has those that were assessed.
	Categories map[Category]CategoryAssessment `json:"categories"`
	// Rationale is the reason for the assessment as a whole; "" if none was given.
	Rationale string `json:"rationale"`
	// By, ByType, At and JourneyTaskID are the client, the time and the task of the last change.
	By            string    `json:"by"`
	ByType        string    `json:"byType"`
	At            time.Time `json:"at"`
	JourneyTaskID string    `json:"journeyTaskId"`
}

// CategoryAssessment is the materiality of the findings of one category.
type CategoryAssessment struct {
	Status Materiality `json:"status"`
	// Jurisdictions are set only if Status is Material. OKToProceed, whether to proceed in spite of the finding, and
	// Rationale are set only if it is, for Sanctions.
	Jurisdictions []string `json:"jurisdictions"`
	OKToProceed   *bool    `json:"okToProceed"`
	Rationale     string   `json:"rationale"`
}

// Outcome returns the materiality of all categories together.
func (a Assessment) Outcome() Materiality {
	var all []Materiality
	for _, c := range a.Categories {
		all = append(all, c.Status)
	}
	return Combine(all...)
}

// Escalation is the materiality task of an entity in the hands of a team.
type Escalation struct {
	TeamID string `json:"teamId"`
	// UserID is "" if the task is the whole team's.
	UserID  string    `json:"userId"`
	Comment string    `json:"comment"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// ImpactedClient is a client of the institution to whom a finding about an entity may matter.
type ImpactedClient struct {
	LegalEntityID string `json:"legalEntityId"`
	IsSelected    bool   `json:"isSelected"`
	// ReasonForNoFollowUp is given if the client is not selected.
	ReasonForNoFollowUp string `json:"reasonForNoFollowUp"`
}

// Aggregate returns the materiality of all entities together, by category. It has every category.
func Aggregate(entities []Entity) map[Category]Materiality {
	out := map[Category]Materiality{}
	for _, c := range Categories {
		out[c] = NoMateriality
	}
	for _, e := range entities {
		if e.Assessment == nil {
			continue
		}
		for c, a := range e.Assessment.Categories {
			out[c] = Combine(out[c], a.Status)
		}
	}
	return out
}
