package httpapi

import (
	"fmt"
	"net/url"
	"strconv"
	"unicode/utf8"

	"sluice/shared/kit/fault"
)

// InvalidQuery returns the validation error of a query parameter.
func InvalidQuery(values url.Values, name, message, code string) error {
	return fault.NewInvalid(fault.Detail{
		Source: fault.InQuery, Path: []any{name}, Message: message, Code: code,
		AttemptedValue: AttemptedText(values.Get(name)),
	})
}

// CheckID returns the validation error of an identifier in a parameter, which has 1 to most bytes of UTF-8; nil if it
// is valid. The source is a constant of package fault.
func CheckID(source, name, id string, most int) error {
	d := fault.Detail{Source: source, Path: []any{name}, AttemptedValue: AttemptedText(id)}
	switch {
	case id == "":
		d.Message, d.Code = "The parameter is required.", "missing"
	case len(id) > most:
		d.Message, d.Code = fmt.Sprintf("The value must have at most %d bytes.", most), "string_too_long"
	case !utf8.ValidString(id):
		d.Message, d.Code = "The value must be valid UTF-8.", "string_type"
	default:
		return nil
	}
	return fault.NewInvalid(d)
}

// QueryLimit returns how many items a page has at most: the query parameter limit, from 1 to most, or its default.
func QueryLimit(values url.Values, standard, most int) (int, error) {
	const name = "limit"
	if !values.Has(name) {
		return standard, nil
	}
	limit, err := strconv.Atoi(values.Get(name))
	if err != nil || limit < 1 || limit > most {
		return 0, InvalidQuery(values, name, fmt.Sprintf("The value must be a whole number from 1 to %d.", most),
			"number_range")
	}
	return limit, nil
}
