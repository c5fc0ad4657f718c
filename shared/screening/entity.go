package screening

import (
	"cmp"
	"strings"

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
