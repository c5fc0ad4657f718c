package entity

import (
	"cmp"

	"sluice/shared/platform/property"
)

// NameKeys are the properties that DisplayName reads.
var NameKeys = []string{"legalEntityName", "fullName", "name", "firstName", "lastName"}

// DisplayName returns the legal name of an entity, or else its full name, its name, or its first and last names.
func DisplayName(properties map[string]property.Property) string {
	value := func(key string) string {
		if p := properties[key]; p.Value != nil {
			return *p.Value
		}
		return ""
	}
	first, last := value("firstName"), value("lastName")
	both := first + last
	if first != "" && last != "" {
		both = first + " " + last
	}
	return cmp.Or(value("legalEntityName"), value("fullName"), value("name"), both)
}
