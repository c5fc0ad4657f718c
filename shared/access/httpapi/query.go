package httpapi

import (
	"maps"
	"net/http"
	"slices"

	"sluice/shared/kit/fault"
)

// CodeRepeated is the code of a query parameter that is given more than once.
const CodeRepeated = "repeated"

// CheckQuery returns a validation error for each query parameter that is not one of the known ones, and for each that
// is repeated. It is for endpoints whose parameters select the result, so that a misspelt one is not left out in
// silence.
func CheckQuery(r *http.Request, known ...string) []fault.Detail {
	var details []fault.Detail
	if r.URL.RawQuery == "" {
		return nil
	}
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		d := fault.Detail{Source: fault.InQuery, Path: []any{name}}
		switch {
		case !slices.Contains(known, name):
			d.Message, d.Code = "This parameter is not known here.", "extra_forbidden"
		case len(query[name]) > 1:
			d.Message, d.Code = "The parameter must not be repeated.", CodeRepeated
		default:
			continue
		}
		details = append(details, d)
	}
	return details
}
