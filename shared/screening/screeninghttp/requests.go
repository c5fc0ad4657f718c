package screeninghttp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/screening"
)

// Codes of validation errors that only screening has. docs/errors.md explains them.
const (
	CodeProvider = "ProviderValidator"
	CodeName     = "NameValidator"
	CodeDate     = "DateValidator"
	CodeKey      = "KeyValidator"
	CodeSetting  = "SettingValidator"
	CodeList     = "ListValidator"
)

// Limits of bodies, in characters unless they say otherwise.
const (
	maxReason         = 1000
	maxComments       = 4000
	maxClassification = 50 // fields
)

// CreateRequest is the data of a new batch.
type CreateRequest struct {
	Entities                   []EntityRequest   `json:"entities"`
	JourneyID                  string            `json:"journeyId"`
	ProcessID                  string            `json:"processId"`
	Providers                  []ProviderRequest `json:"providers"`
	JourneyMainLegalEntityName string            `json:"journeyMainLegalEntityName"`
	JourneyType                string            `json:"journeyType"`
	JourneyMainLegalEntityID   string            `json:"journeyMainLegalEntityId"`
}

// EntityRequest is an entity of a new batch.
type EntityRequest struct {
	SearchCriteria *screening.SearchCriteria `json:"searchCriteria"`
	LegalEntityID  string                    `json:"legalEntityId"`
	EntityAliases  []screening.Alias         `json:"entityAliases"`
}

// ProviderRequest selects a provider of a new batch.
type ProviderRequest struct {
	ProviderID         string  `json:"providerId"`
	ConfigurationSetID *string `json:"configurationSetId"`
}

// Check validates the data.
func (in *CreateRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue("entities", len(in.Entities) > 0)
	if v.CheckCount("entities", len(in.Entities), screening.MaxEntities) {
		var ids []platform.Item
		for i, e := range in.Entities {
			path := fmt.Sprintf("entities.%d", i)
			e.check(v, path)
			if e.LegalEntityID != "" {
				ids = append(ids, platform.Item{Property: path + ".legalEntityId", Value: entityID(e.LegalEntityID)})
			}
		}
		v.CheckUniqueItems("entities", ids)
	}
	v.CheckID("journeyId", in.JourneyID)
	v.CheckID("processId", in.ProcessID)
	v.CheckID("journeyMainLegalEntityId", in.JourneyMainLegalEntityID)
	v.CheckText("journeyMainLegalEntityName", in.JourneyMainLegalEntityName, platform.MaxName)
	v.CheckText("journeyType", in.JourneyType, platform.MaxName)
	if !v.CheckCount("providers", len(in.Providers), screening.MaxProviders) {
		return
	}
	var ids []platform.Item
	for i, p := range in.Providers {
		property := fmt.Sprintf("providers.%d.providerId", i)
		v.RequireText(property, p.ProviderID, platform.MaxName)
		v.CheckOptionalUUID(fmt.Sprintf("providers.%d.configurationSetId", i), p.ConfigurationSetID)
		ids = append(ids, platform.Item{Property: property, Value: p.ProviderID})
	}
	v.CheckUniqueItems("providers", ids)
}

func (e EntityRequest) check(v *platform.ValidationErrors, path string) {
	v.RequireValue(path+".searchCriteria", e.SearchCriteria != nil)
	if e.SearchCriteria != nil {
		checkCriteria(v, path+".searchCriteria", *e.SearchCriteria)
	}
	v.CheckID(path+".legalEntityId", e.LegalEntityID)
	if !v.CheckCount(path+".entityAliases", len(e.EntityAliases), screening.MaxAliases) {
		return
	}
	var ids []platform.Item
	for i, a := range e.EntityAliases {
		alias := fmt.Sprintf("%s.entityAliases.%d", path, i)
		v.RequireText(alias+".id", a.ID, platform.MaxName)
		if a.ID == screening.PrimaryName {
			v.Add(alias+".id", "This ID stands for the main name of the entity. Use another one.",
				platform.CodeDuplicate)
		}
		checkNames(v, alias, map[string]string{"aliasType": a.AliasType, "fullName": a.FullName,
			"firstName": a.FirstName, "middleName": a.MiddleName, "lastName": a.LastName,
			"legalEntityName": a.LegalEntityName})
		ids = append(ids, platform.Item{Property: alias + ".id", Value: a.ID})
	}
	v.CheckUniqueItems(path+".entityAliases", ids)
}

// checkNames checks the lengths of optional texts.
func checkNames(v *platform.ValidationErrors, path string, texts map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		v.CheckText(path+"."+name, texts[name], platform.MaxName)
	}
}

func checkCriteria(v *platform.ValidationErrors, path string, c screening.SearchCriteria) {
	v.RequireOneOf(path+".type", c.Type, screening.Individual, screening.Company)
	switch {
	case c.Type == screening.Individual && !c.HasName():
		v.Add(path, "An individual needs fullName, or firstName and lastName.", CodeName)
	case c.Type == screening.Company && !c.HasName():
		v.Add(path, "A company needs legalEntityName.", CodeName)
	}
	checkNames(v, path, map[string]string{
		"fullName": c.FullName, "firstName": c.FirstName, "middleName": c.MiddleName, "lastName": c.LastName,
		"legalEntityName": c.LegalEntityName, "gender": c.Gender, "idNumber": c.IDNumber, "phoneNumber": c.PhoneNumber,
		"emailAddress": c.EmailAddress, "nationality": c.Nationality, "countryOfResidence": c.CountryOfResidence,
		"subtype": c.Subtype, "uniqueId": c.UniqueID, "passportNumber": c.PassportNumber,
		"socialSecurityNumber": c.SocialSecurityNumber, "driversLicense": c.DriversLicense,
		"employerIdentificationNumber": c.EmployerIdentificationNumber, "placeOfBirth": c.PlaceOfBirth,
		"placeOfBirthISO2": c.PlaceOfBirthISO2, "placeOfBirthISO3": c.PlaceOfBirthISO3, "citizenship": c.Citizenship,
		"citizenshipISO2": c.CitizenshipISO2, "citizenshipISO3": c.CitizenshipISO3,
		"registeredCountry": c.RegisteredCountry, "registeredCountryISO2": c.RegisteredCountryISO2,
		"registeredCountryISO3": c.RegisteredCountryISO3,
	})
	v.CheckText(path+".otherInformation", c.OtherInformation, platform.MaxText)
	checkBirthDate(v, path+".dateOfBirth", c.DateOfBirth)
	if !v.CheckCount(path+".addresses", len(c.Addresses), screening.MaxAddresses) {
		return
	}
	for i, a := range c.Addresses {
		checkNames(v, fmt.Sprintf("%s.addresses.%d", path, i), map[string]string{
			"addressLine1": a.AddressLine1, "addressLine2": a.AddressLine2, "city": a.City, "postalCode": a.PostalCode,
			"stateProvince": a.StateProvince, "country": a.Country, "countryISO2": a.CountryISO2,
			"countryISO3": a.CountryISO3, "type": a.Type})
	}
}

var datePattern = regexp.MustCompile(`^[0-9]{2}/[0-9]{2}/[0-9]{4}$`)

func checkBirthDate(v *platform.ValidationErrors, path, text string) {
	if text == "" {
		return
	}
	if _, err := time.Parse("02/01/2006", text); err != nil || !datePattern.MatchString(text) {
		v.Add(path, "The value must be a date as DD/MM/YYYY.", CodeDate)
	}
}

// ResolveRequest resolves matches of several entities.
type ResolveRequest []EntityMatches

// EntityMatches resolves matches of one entity.
type EntityMatches struct {
	EntityID string        `json:"entityId"`
	Matches  []MatchUpdate `json:"matches"`
}

// MatchUpdate resolves a match. Absent comments and an absent classification stay as they are.
type MatchUpdate struct {
	MatchID                    string              `json:"matchId"`
	Status                     string              `json:"status"`
	Reason                     string              `json:"reason"`
	Comments                   *string             `json:"comments"`
	ClassificationData         *ClassificationData `json:"classificationData"`
	ClassificationDataReviewed *bool               `json:"classificationDataReviewed"`
}

// ClassificationData holds values that the institution gives to a match.
type ClassificationData struct {
	SingleProperties map[string]screening.Label `json:"singleProperties"`
}

// Check validates the data.
func (in *ResolveRequest) Check(v *platform.ValidationErrors) {
	count := 0
	for _, e := range *in {
		count += len(e.Matches)
	}
	if count < 1 || count > screening.MaxResolvedAtOnce {
		v.Add("data", fmt.Sprintf("The list must have 1 to %d matches.", screening.MaxResolvedAtOnce),
			platform.CodeCount)
		return
	}
	var ids []platform.Item
	for i, e := range *in {
		v.RequireID(fmt.Sprintf("%d.entityId", i), e.EntityID)
		v.RequireValue(fmt.Sprintf("%d.matches", i), len(e.Matches) > 0)
		for j, m := range e.Matches {
			path := fmt.Sprintf("%d.matches.%d", i, j)
			m.check(v, path)
			ids = append(ids, platform.Item{Property: path + ".matchId",
				Value: entityID(e.EntityID) + " " + strings.ToLower(m.MatchID)})
		}
	}
	v.CheckUniqueItems("data", ids)
}

func (m MatchUpdate) check(v *platform.ValidationErrors, path string) {
	v.RequireUUID(path+".matchId", m.MatchID)
	v.RequireOneOf(path+".status", m.Status, string(screening.TrueMatch), string(screening.NoMatch),
		string(screening.Unresolved))
	v.RequireText(path+".reason", m.Reason, maxReason)
	v.CheckOptionalText(path+".comments", m.Comments, maxComments)
	if m.ClassificationData == nil {
		return
	}
	fields, path := m.ClassificationData.SingleProperties, path+".classificationData.singleProperties"
	if !v.CheckCount(path, len(fields), maxClassification) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v.RequireText(path, name, platform.MaxName)
		v.CheckText(path+"."+name+".value", fields[name].Value, platform.MaxName)
		v.CheckText(path+"."+name+".label", fields[name].Label, platform.MaxName)
	}
}

// refs returns the matches of the request and their updates, in the same order.
func (in ResolveRequest) refs() ([]screening.MatchRef, []MatchUpdate) {
	var refs []screening.MatchRef
	var updates []MatchUpdate
	for _, e := range in {
		for _, m := range e.Matches {
			refs = append(refs, screening.MatchRef{EntityID: entityID(e.EntityID), MatchID: strings.ToLower(m.MatchID)})
			updates = append(updates, m)
		}
	}
	return refs, updates
}

// apply returns a resolution after the update.
func (m MatchUpdate) apply(r screening.Resolution, by screening.MatchAction) screening.Resolution {
	r.Status, r.Reason, r.Action = screening.MatchStatus(m.Status), m.Reason, &by
	if m.Comments != nil {
		r.Comments = *m.Comments
	}
	if m.ClassificationData != nil {
		r.Classification = m.ClassificationData.SingleProperties
	}
	if m.ClassificationDataReviewed != nil {
		r.ClassificationReviewed = *m.ClassificationDataReviewed
	}
	return r
}
