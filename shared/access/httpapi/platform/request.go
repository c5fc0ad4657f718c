package platform

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/kit/fault"
)

// Request is one call of an endpoint.
type Request struct {
	httpapi.Caller

	http *http.Request
	body *httpapi.Body
	// bodyProperty is the name of the whole body; "" if it has an envelope.
	bodyProperty string
	// isBodyOptional means that there need not be a body.
	isBodyOptional bool
}

// Validate runs a check and returns the validation errors that it adds as one fault.Invalid, nil if it adds none.
func (r *Request) Validate(check func(v *ValidationErrors)) error {
	v := ValidationErrors{request: r}
	check(&v)
	return v.Err()
}

// Invalid returns the error of a request whose body has one wrong property.
func (r *Request) Invalid(property, message, code string) error {
	return r.Validate(func(v *ValidationErrors) { v.Add(property, message, code) })
}

// RequireReach returns an error about a property if the caller would not reach an object with the given access layers:
// nobody may lock themselves out.
func (r *Request) RequireReach(property string, layers access.Layers) error {
	if r.Layers.CanReach(layers) {
		return nil
	}
	return r.Invalid(property, "With these access layers the client would not reach the object itself.", CodeLayers)
}

// attributeFourEyes is auth.AttributeFourEyes: "true" if the tenant demands four eyes.
const attributeFourEyes = "fourEyes"

// RequireOther returns the given message as a fault if the tenant demands four eyes and the caller is among the clients
// whose work the request would approve. The caller of RequireOther makes the approval conditional on the state in which
// it has found those clients.
func (r *Request) RequireOther(message string, clients ...string) error {
	if r.Attributes[attributeFourEyes] == "true" && slices.Contains(clients, r.Client) {
		return fault.New(fault.Forbidden, "four_eyes", message)
	}
	return nil
}

// InvalidParameter returns the error of a request with one wrong parameter; source is fault.InPath or fault.InQuery.
func (r *Request) InvalidParameter(source, name, message, code string) error {
	return r.Validate(func(v *ValidationErrors) { v.AddParameter(source, name, message, code) })
}

// PathValue returns a path parameter, decoded once.
func (r *Request) PathValue(name string) string { return r.http.PathValue(name) }

// PathUUID returns a path parameter in lower case, as UUIDs are stored; it must be a UUID.
func (r *Request) PathUUID(name string) (string, error) {
	value := r.http.PathValue(name)
	if !IsUUID(value) {
		return "", r.InvalidParameter(fault.InPath, name, "The value must be a UUID.", CodeUUID)
	}
	return strings.ToLower(value), nil
}

// QueryUUID returns a query parameter in lower case, as UUIDs are stored; it must be given once and be a UUID.
func (r *Request) QueryUUID(name string) (string, error) {
	switch values := r.Query(name); {
	case len(values) == 0 || values[0] == "":
		return "", r.InvalidParameter(fault.InQuery, name, "The parameter is missing.", CodeRequired)
	case len(values) > 1 || !IsUUID(values[0]):
		return "", r.InvalidParameter(fault.InQuery, name, "The value must be a UUID, given once.", CodeUUID)
	default:
		return strings.ToLower(values[0]), nil
	}
}

// CorrelationID returns the ID that the client gave the request, "" if it gave none.
func (r *Request) CorrelationID() string { return r.http.Header.Get(httpapi.CorrelationHeader) }

// Header returns the first value of a header, "" if it is absent.
func (r *Request) Header(name string) string { return r.http.Header.Get(name) }

// Query returns all values of a query parameter, none if it is absent.
func (r *Request) Query(name string) []string { return r.http.URL.Query()[name] }

// CheckRepeated checks that each of the named parameters of the query is given once at most.
func (v *ValidationErrors) CheckRepeated(names ...string) {
	for _, name := range names {
		if len(v.request.Query(name)) > 1 {
			v.AddParameter(fault.InQuery, name, "The parameter must not be repeated.", CodeRange)
		}
	}
}

// CheckQueryUUID checks that a query parameter is a UUID, absent or empty.
func (v *ValidationErrors) CheckQueryUUID(name string) {
	if value := v.request.firstQuery(name); value != "" && !IsUUID(value) {
		v.AddParameter(fault.InQuery, name, "The value must be a UUID.", CodeUUID)
	}
}

// CheckQueryBool returns the value of a query parameter that must be a boolean; absent and empty mean false.
func (v *ValidationErrors) CheckQueryBool(name string) bool {
	text := v.request.firstQuery(name)
	if text == "" {
		return false
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		v.AddParameter(fault.InQuery, name, "The value must be true or false.", codeNotBoolean)
	}
	return value
}

// CheckQueryInt returns the value of a query parameter that must be an integer from low to high; absent and empty mean
// the given value.
func (v *ValidationErrors) CheckQueryInt(name string, absent, low, high int) int {
	text := v.request.firstQuery(name)
	if text == "" {
		return absent
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < low || value > high {
		v.AddParameter(fault.InQuery, name, fmt.Sprintf("The value must be between %d and %d.", low, high), CodeRange)
		return absent
	}
	return value
}

func (r *Request) firstQuery(name string) string { return r.http.URL.Query().Get(name) }

// attemptedProperty returns the value of the body that the path of a property leads to.
func (r *Request) attemptedProperty(path []any) any {
	if r.bodyProperty != "" {
		return r.body.AttemptedValue(path[1:]...)
	}
	return r.body.AttemptedValue(append([]any{"data"}, path...)...)
}

// attemptedParameter returns the value of a parameter, nil if it is empty.
func (r *Request) attemptedParameter(source, name string) any {
	value := r.PathValue(name)
	if source == fault.InQuery {
		value = r.firstQuery(name)
	}
	return httpapi.AttemptedText(value)
}

// OrNull returns nil for the zero value, so that a reply has null for what is not there.
func OrNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// OrEmpty returns an empty list for nil, so that a reply has [] and not null.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
