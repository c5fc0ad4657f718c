package gateway

import (
	enc "encoding/base64"
	"net/http"
	"slices"
	"strings"

	"sluice/local/template"
)

// routes are in the order in which they are tried.
type routes []template.Route

// sorted puts fixed segments before parameters and those before greedy ones, as API Gateway prefers them.
func sorted(all []template.Route) routes {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b template.Route) int {
		as, bs := strings.Split(a.Path, "/"), strings.Split(b.Path, "/")
		for i := range min(len(as), len(bs)) {
			if d := rank(as[i]) - rank(bs[i]); d != 0 {
				return d
			}
		}
		return rankMethod(a.Method) - rankMethod(b.Method)
	})
	return out
}

func rank(segment string) int {
	switch {
	case strings.HasSuffix(segment, "+}"):
		return 2
	case strings.HasPrefix(segment, "{"):
		return 1
	}
	return 0
}

func rankMethod(m string) int {
	if m == "ANY" {
		return 1
	}
	return 0
}

// find returns the route of a request. The path is as it was sent: a %2F in it separates nothing.
func (rs routes) find(method, path string) (template.Route, map[string]string, bool) {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	for _, r := range rs {
		if r.Method != method && r.Method != "ANY" {
			continue
		}
		if params, ok := match(strings.Split(r.Path, "/"), segments); ok {
			return r, params, true
		}
	}
	return template.Route{}, nil, false
}

func match(pattern, segments []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, p := range pattern {
		if i >= len(segments) {
			return nil, false
		}
		name, isParameter := strings.CutPrefix(p, "{")
		if greedy, ok := strings.CutSuffix(name, "+}"); isParameter && ok {
			params[greedy] = strings.Join(segments[i:], "/")
			return params, true
		}
		switch {
		case isParameter && segments[i] != "":
			params[strings.TrimSuffix(name, "}")] = segments[i]
		case isParameter || p != segments[i]:
			return nil, false
		}
	}
	return params, len(pattern) == len(segments)
}

func base64(b []byte) string { return enc.StdEncoding.EncodeToString(b) }

func unbase64(s string) ([]byte, error) { return enc.StdEncoding.DecodeString(s) }

// refusal is a response of API Gateway itself.
type refusal struct {
	kind    string
	status  int
	message string
}

func (r *refusal) Error() string { return r.kind }

var (
	unauthorized      = &refusal{"UNAUTHORIZED", http.StatusUnauthorized, "Unauthorized"}
	accessDenied      = &refusal{"ACCESS_DENIED", http.StatusForbidden, "User is not authorized to access this resource"}
	authorizerFailure = &refusal{"AUTHORIZER_FAILURE", http.StatusInternalServerError, "Internal server error"}
	authorizerWrong   = &refusal{"AUTHORIZER_CONFIGURATION_ERROR", http.StatusInternalServerError, "Internal server error"}
	missingToken      = &refusal{"MISSING_AUTHENTICATION_TOKEN", http.StatusForbidden, "Missing Authentication Token"}
	// A path without a method wants a signature: a bearer token is none. API Gateway has no response type of that name.
	noSignature        = &refusal{"INCOMPLETE_SIGNATURE", http.StatusForbidden, "Authorization header requires 'Credential' parameter."}
	requestTooLarge    = &refusal{"REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge, "Request Too Long"}
	badRequest         = &refusal{"BAD_REQUEST_BODY", http.StatusBadRequest, "Invalid request body"}
	integrationFailure = &refusal{"INTEGRATION_FAILURE", http.StatusBadGateway, "Internal server error"}
	malformedAnswer    = &refusal{"API_CONFIGURATION_ERROR", http.StatusBadGateway, "Internal server error"}
	integrationTimeout = &refusal{"INTEGRATION_TIMEOUT", http.StatusGatewayTimeout, "Endpoint request timed out"}
	internalError      = &refusal{"INTERNAL_ERROR", http.StatusInternalServerError, "Internal server error"}
)

// refuse writes a gateway response: the template's for its type, or else for its class, or else API Gateway's own.
func (g *Gateway) refuse(w http.ResponseWriter, r *refusal) {
	response, ok := g.API.Responses[r.kind]
	if !ok {
		class := "DEFAULT_4XX"
		if r.status >= 500 {
			class = "DEFAULT_5XX"
		}
		response = g.API.Responses[class]
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("x-amzn-ErrorType", r.kind)
	for name, value := range response.Headers {
		h.Set(name, value)
	}
	body := response.Body
	if body == "" {
		body = `{"message":$context.error.messageString}`
	}
	body = strings.ReplaceAll(body, "$context.error.messageString", `"`+r.message+`"`)
	body = strings.ReplaceAll(body, "$context.error.message", r.message)
	status := r.status
	if response.Status != 0 {
		status = response.Status
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may be gone
}
