package screening

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"sluice/shared/platform/property"
)

// Types of entities in searches.
const (
	Individual = "Individual"
	Company    = "Company"
)

// PrimaryName stands for the main name of an entity among the IDs of its aliases.
const PrimaryName = "PrimaryName"

// Entity is one party of a batch. Storage keeps its JSON form.
type Entity struct {
	// ID is the ID of the legal entity or, without one, a UUID.
	ID      string `json:"id"`
	BatchID string `json:"batchId"`
	// LegalEntityID is the ID of the entity in the entity data; "" if it is not known there.
	LegalEntityID string         `json:"legalEntityId"`
	Criteria      SearchCriteria `json:"criteria"`
	Aliases       []Alias        `json:"aliases"`
	// Assessment is nil as long as nobody has assessed the entity.
	Assessment *Assessment `json:"assessment"`
	// Materiality holds properties by the ID of the entity that they are about: the entity itself or a related party.
	Materiality map[string]map[string]property.Property `json:"materiality"`
	// Escalation is nil unless the materiality task is escalated.
	Escalation      *Escalation      `json:"escalation"`
	ImpactedClients []ImpactedClient `json:"impactedClients"`
	// Version is 1 for a new entity and grows by one with every change. Writes are conditional on it.
	Version int64 `json:"version"`
}

// SearchCriteria is what providers search by. Its JSON form is the same on the wire and in storage.
type SearchCriteria struct {
	// Type is Individual or Company.
	Type            string `json:"type"`
	FullName        string `json:"fullName,omitempty"`
	FirstName       string `json:"firstName,omitempty"`
	MiddleName      string `json:"middleName,omitempty"`
	LastName        string `json:"lastName,omitempty"`
	LegalEntityName string `json:"legalEntityName,omitempty"`
	// DateOfBirth is DD/MM/YYYY.
	DateOfBirth                  string    `json:"dateOfBirth,omitempty"`
	Gender                       string    `json:"gender,omitempty"`
	IDNumber                     string    `json:"idNumber,omitempty"`
	PhoneNumber                  string    `json:"phoneNumber,omitempty"`
	EmailAddress                 string    `json:"emailAddress,omitempty"`
	Nationality                  string    `json:"nationality,omitempty"`
	CountryOfResidence           string    `json:"countryOfResidence,omitempty"`
	Subtype                      string    `json:"subtype,omitempty"`
	UniqueID                     string    `json:"uniqueId,omitempty"`
	OtherInformation             string    `json:"otherInformation,omitempty"`
	PassportNumber               string    `json:"passportNumber,omitempty"`
	SocialSecurityNumber         string    `json:"socialSecurityNumber,omitempty"`
	DriversLicense               string    `json:"driversLicense,omitempty"`
	EmployerIdentificationNumber string    `json:"employerIdentificationNumber,omitempty"`
	PlaceOfBirth                 string    `json:"placeOfBirth,omitempty"`
	PlaceOfBirthISO2             string    `json:"placeOfBirthISO2,omitempty"`
	PlaceOfBirthISO3             string    `json:"placeOfBirthISO3,omitempty"`
	Citizenship                  string    `json:"citizenship,omitempty"`
	CitizenshipISO2              string    `json:"citizenshipISO2,omitempty"`
	CitizenshipISO3              string    `json:"citizenshipISO3,omitempty"`
	RegisteredCountry            string    `json:"registeredCountry,omitempty"`
	RegisteredCountryISO2        string    `json:"registeredCountryISO2,omitempty"`
	RegisteredCountryISO3        string    `json:"registeredCountryISO3,omitempty"`
	Addresses                    []Address `json:"addresses,omitempty"`
}

// Address is an address of an entity.
type Address struct {
	AddressLine1  string `json:"addressLine1,omitempty"`
	AddressLine2  string `json:"addressLine2,omitempty"`
	City          string `json:"city,omitempty"`
	PostalCode    string `json:"postalCode,omitempty"`
	StateProvince string `json:"stateProvince,omitempty"`
	Country       string `json:"country,omitempty"`
	CountryISO2   string `json:"countryISO2,omitempty"`
	CountryISO3   string `json:"countryISO3,omitempty"`
	Type          string `json:"type,omitempty"`
}

// Alias is another name of an entity. Its JSON form is the same on the wire and in storage.
type Alias struct {
	ID              string `json:"id"`
	AliasType       string `json:"aliasType,omitempty"`
	FullName        string `json:"fullName,omitempty"`
	FirstName       string `json:"firstName,omitempty"`
	MiddleName      string `json:"middleName,omitempty"`
	LastName        string `json:"lastName,omitempty"`
	LegalEntityName string `json:"legalEntityName,omitempty"`
}

// Name returns the main name of the entity.
func (c SearchCriteria) Name() string {
	if c.Type == Company {
		return c.LegalEntityName
	}
	return cmp.Or(c.FullName, joinNames(c.FirstName, c.MiddleName, c.LastName))
}

// Name returns the name that the alias adds.
func (a Alias) Name() string {
	return cmp.Or(a.FullName, a.LegalEntityName, joinNames(a.FirstName, a.MiddleName, a.LastName))
}

// HasName reports whether the criteria have the names that their type needs: a full name or a first and a last one of
// an individual, the legal name of a company. A name of white space alone does not count.
func (c SearchCriteria) HasName() bool {
	if c.Type == Company {
		return strings.TrimSpace(c.LegalEntityName) != ""
	}
	return strings.TrimSpace(c.FullName) != "" ||
		strings.TrimSpace(c.FirstName) != "" && strings.TrimSpace(c.LastName) != ""
}

func joinNames(names ...string) string {
	return strings.Join(strings.Fields(strings.Join(names, " ")), " ")
}

// MaxDocuments is the largest number of documents of an entity in a batch, including the documents of its matches.
const MaxDocuments = 100

// Document is a document of an entity in a batch, or of one of its matches. Its name, its file and its state are those
// of a document of document management.
type Document struct {
	ID       string `json:"id"`
	BatchID  string `json:"batchId"`
	EntityID string `json:"entityId"`
	// MatchID and MatchUniqueID are "" for a document of the entity.
	MatchID       string `json:"matchId"`
	MatchUniqueID string `json:"matchUniqueId"`
	// DocumentID is the ID in document management.
	DocumentID string `json:"documentId"`
	// IdempotencyKey comes from the request that created the document; "" if it had none.
	IdempotencyKey string    `json:"idempotencyKey"`
	CreatedBy      string    `json:"createdBy"`
	CreatedAt      time.Time `json:"createdAt"`
	// ReusedFromBatchID and ReusedFromMatchID say where a reused document comes from; "" for any other.
	ReusedFromBatchID string `json:"reusedFromBatchId"`
	ReusedFromMatchID string `json:"reusedFromMatchId"`
	// IsBeingRemoved means that its removal was begun while the batch was open. It can be completed at any time.
	IsBeingRemoved bool `json:"-"`
}

// WithKey returns the document with an idempotency key and the IDs that follow from it: the same key in the same place
// gives the same document.
func (d Document) WithKey(key string) Document {
	d.IdempotencyKey = key
	d.ID = uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%q %q %q %q", d.BatchID, d.EntityID, d.MatchID, key)).String()
	d.DocumentID = uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "document %q", d.ID)).String()
	return d
}

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
