package platform

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"sluice/shared/kit/fault"
)

// Codes of validation errors. docs/errors.md explains them.
const (
	CodeRequired  = "NotNullValidator"
	CodeLength    = "MaximumLengthValidator"
	CodeUUID      = "GuidValidator"
	CodeOneOf     = "EnumValidator"
	CodeRange     = "InclusiveBetweenValidator"
	CodeCount     = "MaximumCountValidator"
	CodeDuplicate = "UniqueValidator"
	CodePageToken = "PaginationTokenValidator"
	CodeURL       = "UrlValidator"
	CodeProperty  = "PropertyValidator"
	CodeFile      = "FileValidator"
	CodeFileName  = "FileNameValidator"
	CodeLayers    = "AccessLayersValidator"
	// CodeCertificate and the following ones belong to external authentication.
	CodeCertificate = "CertificateValidator"
	CodeHeader      = "HeaderValidator"
	CodeFormValue   = "FormValueValidator"
	CodeSecret      = "SecretValidator"
	codeWrongType   = "type"
	codeNotBoolean  = "bool_type"
)

const (
	// MaxName is the longest name or key of a body, in characters.
	MaxName = 255
	// MaxText is the longest other text of a body, in characters.
	MaxText = 10_000
	// MaxID is the longest ID of a body or a path, in bytes.
	MaxID = 255
)

// IsUUID reports whether s is a UUID of 8-4-4-4-12 hexadecimal digits.
func IsUUID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil && len(s) == len(uuid.Nil.String())
}

// ValidationErrors collects the validation errors of a request. The zero value is ready to use, but only those of
// Request.Validate report the values that were attempted. A property is named by its path in the data, with dots.
type ValidationErrors struct {
	details []fault.Detail
	request *Request
}

// Add adds a validation error of a property of the body.
func (v *ValidationErrors) Add(property, message, code string) {
	var path []any
	for step := range strings.SplitSeq(property, ".") {
		path = append(path, step)
	}
	d := fault.Detail{Source: fault.InBody, Path: path, Message: message, Code: code}
	if v.request != nil {
		d.AttemptedValue = v.request.attemptedProperty(path)
	}
	v.details = append(v.details, d)
}

// AddParameter adds a validation error of a parameter in the path or in the query: fault.InPath or fault.InQuery.
func (v *ValidationErrors) AddParameter(source, name, message, code string) {
	d := fault.Detail{Source: source, Path: []any{name}, Message: message, Code: code}
	if v.request != nil {
		d.AttemptedValue = v.request.attemptedParameter(source, name)
	}
	v.details = append(v.details, d)
}

// Count returns how many validation errors there are.
func (v *ValidationErrors) Count() int { return len(v.details) }

// Err returns a fault.Invalid with all validation errors, nil if there are none.
func (v *ValidationErrors) Err() error {
	if len(v.details) == 0 {
		return nil
	}
	return fault.NewInvalid(v.details...)
}

// RequireValue checks that a value is present, as far as the caller knows.
func (v *ValidationErrors) RequireValue(property string, isPresent bool) {
	if !isPresent {
		v.Add(property, "The value is missing.", CodeRequired)
	}
}

// RequireText checks that a text is present and has at most maxChars characters.
func (v *ValidationErrors) RequireText(property, value string, maxChars int) {
	v.RequireValue(property, value != "")
	v.CheckText(property, value, maxChars)
}

// CheckText checks that a text has at most maxChars characters.
func (v *ValidationErrors) CheckText(property, value string, maxChars int) {
	if len(value) > maxChars && utf8.RuneCountInString(value) > maxChars {
		v.Add(property, fmt.Sprintf("The value has more than %d characters.", maxChars), CodeLength)
	}
}

// CheckOptionalText is CheckText for a value that may be absent.
func (v *ValidationErrors) CheckOptionalText(property string, value *string, maxChars int) {
	if value != nil {
		v.CheckText(property, *value, maxChars)
	}
}

// RequireID checks that an ID is present and has at most MaxID bytes.
func (v *ValidationErrors) RequireID(property, value string) {
	v.RequireValue(property, value != "")
	v.CheckID(property, value)
}

// CheckID checks that an ID has at most MaxID bytes.
func (v *ValidationErrors) CheckID(property, value string) {
	if len(value) > MaxID {
		v.Add(property, fmt.Sprintf("The value has more than %d bytes.", MaxID), CodeLength)
	}
}

// RequireUUID checks that a value is present and a UUID.
func (v *ValidationErrors) RequireUUID(property, value string) {
	v.RequireValue(property, value != "")
	if value != "" {
		v.CheckOptionalUUID(property, &value)
	}
}

// CheckOptionalUUID checks that a value is a UUID or absent; "" is neither.
func (v *ValidationErrors) CheckOptionalUUID(property string, value *string) {
	if value != nil && !IsUUID(*value) {
		v.Add(property, "The value must be a UUID.", CodeUUID)
	}
}

// CheckUUIDs checks that a list has at most maxItems items, each a UUID.
func (v *ValidationErrors) CheckUUIDs(property string, values []string, maxItems int) {
	if !v.CheckCount(property, len(values), maxItems) {
		return
	}
	for i, value := range values {
		v.RequireUUID(fmt.Sprintf("%s.%d", property, i), value)
	}
}

// CheckIDs checks that a list has at most maxItems items, each an ID of 1 to MaxID bytes.
func (v *ValidationErrors) CheckIDs(property string, values []string, maxItems int) {
	if !v.CheckCount(property, len(values), maxItems) {
		return
	}
	for i, value := range values {
		v.RequireID(fmt.Sprintf("%s.%d", property, i), value)
	}
}

// RequireOneOf checks that a value is one of the allowed ones. "" counts as absent unless it is allowed; the message
// does not name it.
func (v *ValidationErrors) RequireOneOf(property, value string, allowed ...string) {
	switch {
	case slices.Contains(allowed, value):
	case value == "":
		v.RequireValue(property, false)
	default:
		named := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
		v.Add(property, "The value must be one of "+strings.Join(named, ", ")+".", CodeOneOf)
	}
}

// CheckBetween checks that a number is in the range from low to high, both included.
func (v *ValidationErrors) CheckBetween(property string, value, low, high int) {
	if value < low || value > high {
		v.Add(property, fmt.Sprintf("The value must be between %d and %d.", low, high), CodeRange)
	}
}

// CheckNames checks that a list has at most maxItems names, none of them empty or longer than MaxName.
func (v *ValidationErrors) CheckNames(property string, values []string, maxItems int) {
	if !v.CheckCount(property, len(values), maxItems) {
		return
	}
	for i, value := range values {
		v.RequireText(fmt.Sprintf("%s.%d", property, i), value, MaxName)
	}
}

// CheckCount checks that a list has at most maxItems items, and reports whether it has.
func (v *ValidationErrors) CheckCount(property string, items, maxItems int) bool {
	if items > maxItems {
		v.Add(property, fmt.Sprintf("The list has more than %d items.", maxItems), CodeCount)
	}
	return items <= maxItems
}

// CheckUnique checks that a list of texts has no item twice.
func (v *ValidationErrors) CheckUnique(property string, values []string) {
	items := make([]Item, len(values))
	for i, value := range values {
		items[i] = Item{fmt.Sprintf("%s.%d", property, i), value}
	}
	v.CheckUniqueItems(property, items)
}

// Item is a value that must be unique in a list, and the property that has it.
type Item struct {
	Property string
	Value    string
}

// maxShownChars is how much of a value a message shows.
const maxShownChars = 100

// CheckUniqueItems checks that no two items of a list have the same value. The message names the first value that is
// there twice, and both of its places.
func (v *ValidationErrors) CheckUniqueItems(property string, items []Item) {
	places := make(map[string]string, len(items))
	for _, item := range items {
		first, isTwice := places[item.Value]
		if !isTwice {
			places[item.Value] = item.Property
			continue
		}
		shown := []rune(item.Value)
		v.Add(property, fmt.Sprintf("The list contains %q twice: at %s and %s.",
			string(shown[:min(len(shown), maxShownChars)]), first, item.Property), CodeDuplicate)
		return
	}
}
