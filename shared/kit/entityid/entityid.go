// Package entityid holds the rules of entity IDs, by which lines, documents and screenings name entities.
package entityid

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// MaxBytes is the longest entity ID, in bytes of UTF-8.
const MaxBytes = 255

// Normalize returns the form of an entity's ID under which it is stored: an ID that is a UUID counts in any case, and
// is written in lower case; every other ID counts exactly.
func Normalize(id string) string {
	if isUUID(id) {
		return strings.ToLower(id)
	}
	return id
}

// Forms returns the IDs under which an entity may be stored, the usual one first. Earlier releases stored an ID
// that is a UUID as it was imported: in lower or upper case, or as it is written here.
func Forms(id string) []string {
	if !isUUID(id) {
		return []string{id}
	}
	forms := []string{strings.ToLower(id)}
	for _, form := range []string{id, strings.ToUpper(id)} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// isUUID reports whether an ID is a UUID in the form with hyphens and without braces.
func isUUID(id string) bool { return len(id) == len(uuid.Nil.String()) && uuid.Validate(id) == nil }
