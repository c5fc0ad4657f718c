package gateway

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"sluice/local/template"
)

// renamedHeaders are the headers of a function's response that API Gateway sends under another name, with a prefix.
var renamedHeaders = map[string]bool{"Www-Authenticate": true, "Authorization": true, "Date": true, "Server": true}

// droppedHeaders are the headers of a function's response that API Gateway does not send.
var droppedHeaders = map[string]bool{
	"Connection": true, "Content-Length": true, "Transfer-Encoding": true,
	"Upgrade": true, "Trailer": true, "Te": true,
}

// writeResponse sends the response that a function returned. A body in base64 is decoded only if the request asks for a
// binary media type; any other client receives it as it is.
func (g *Gateway) writeResponse(w http.ResponseWriter, r *request, payload []byte) error {
	var response events.APIGatewayProxyResponse
	if err := json.Unmarshal(payload, &response); err != nil || response.StatusCode < 100 || response.StatusCode > 599 {
		return malformedResponse
	}
	body := []byte(response.Body)
	// "Binary media types for REST APIs in API Gateway": the first type of the header Accept decides.
	accepted, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	if response.IsBase64Encoded && g.isBinary(accepted) {
		var err error
		if body, err = base64.StdEncoding.DecodeString(response.Body); err != nil {
			return malformedResponse
		}
	}
	headers := http.Header{}
	for name, value := range response.Headers {
		headers.Add(name, value)
	}
	for name, values := range response.MultiValueHeaders {
		for _, value := range values {
			if headers.Get(name) != value {
				headers.Add(name, value)
			}
		}
	}
	for name, values := range headers {
		switch {
		case droppedHeaders[name]:
			continue
		case renamedHeaders[name]:
			name = "X-Amzn-Remapped-" + name
		}
		w.Header()[name] = values
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body) // an error means that the client has disconnected
	return nil
}

// gatewayError is a response of API Gateway itself, which the template can replace.
type gatewayError struct {
	// responseType is the name of the gateway response, such as UNAUTHORIZED.
	responseType string
	status       int
	message      string
}

// Error returns the type of the gateway response.
func (e *gatewayError) Error() string { return e.responseType }

// The responses of API Gateway that can occur here.
var (
	unauthorized = &gatewayError{"UNAUTHORIZED", http.StatusUnauthorized, "Unauthorized"}
	accessDenied = &gatewayError{
		"ACCESS_DENIED",
		http.StatusForbidden,
		"User is not authorized to access this resource",
	}
	authorizerFailure     = &gatewayError{"AUTHORIZER_FAILURE", http.StatusInternalServerError, "Internal server error"}
	authorizerConfigError = &gatewayError{
		"AUTHORIZER_CONFIGURATION_ERROR",
		http.StatusInternalServerError,
		"Internal server error",
	}
	missingToken = &gatewayError{
		"MISSING_AUTHENTICATION_TOKEN",
		http.StatusForbidden,
		"Missing Authentication Token",
	}
	// For a path without a method API Gateway expects a signature, and a bearer token is not one. API Gateway has no
	// response type of this name.
	invalidSignature = &gatewayError{
		"INCOMPLETE_SIGNATURE",
		http.StatusForbidden,
		"Authorization header requires 'Credential' parameter.",
	}
	// AWS's documents have the limits, but neither a response type nor a status for what exceeds them.
	headersTooLarge = &gatewayError{
		"HEADERS_TOO_LARGE", http.StatusRequestHeaderFieldsTooLarge, "Request Header Fields Too Large",
	}
	urlTooLong      = &gatewayError{"URI_TOO_LONG", http.StatusRequestURITooLong, "URI Too Long"}
	malformedQuery  = &gatewayError{"BAD_REQUEST", http.StatusBadRequest, "Bad Request"}
	throttled       = &gatewayError{"THROTTLED", http.StatusTooManyRequests, "Too Many Requests"}
	requestTooLarge = &gatewayError{"REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge, "Request Too Long"}
	badRequest      = &gatewayError{"BAD_REQUEST_BODY", http.StatusBadRequest, "Invalid request body"}
	// Lambda's 429 is a 500 for the client, unless the template has a response of this type.
	integrationFailure = &gatewayError{"INTEGRATION_FAILURE", http.StatusInternalServerError, "Internal server error"}
	malformedResponse  = &gatewayError{"API_CONFIGURATION_ERROR", http.StatusBadGateway, "Internal server error"}
	integrationTimeout = &gatewayError{"INTEGRATION_TIMEOUT", http.StatusGatewayTimeout, "Endpoint request timed out"}
	internalError      = &gatewayError{"INTERNAL_ERROR", http.StatusInternalServerError, "Internal server error"}
)

// writeError sends a gateway response: the template's response for its type, else for its class, else the default of
// API Gateway.
func (g *Gateway) writeError(w http.ResponseWriter, r *request, e *gatewayError) {
	response, ok := g.API.Responses[e.responseType]
	if !ok && e != headersTooLarge && e != urlTooLong && e != wrongHost { // those do not reach the API
		class := "DEFAULT_4XX"
		if e.status >= 500 {
			class = "DEFAULT_5XX"
		}
		response = g.API.Responses[class]
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("x-amzn-ErrorType", e.responseType)
	for name, value := range response.Headers {
		if value = r.mapped(value); value != "" {
			h.Set(name, value)
		}
	}
	body := response.Body
	if body == "" {
		body = `{"message":$context.error.messageString}`
	}
	body = strings.ReplaceAll(body, "$context.error.messageString", `"`+e.message+`"`)
	body = strings.ReplaceAll(body, "$context.error.message", e.message)
	status := e.status
	if response.Status != 0 {
		status = response.Status
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // an error means that the client has disconnected
}

// mapped returns the value of a gateway response's header, "" if the request lacks the header that it is taken from.
func (r *request) mapped(value string) string {
	if value == template.MappedRequestID {
		return r.id
	}
	if name, ok := strings.CutPrefix(value, template.MappedRequestHeader); ok {
		return r.Header.Get(name)
	}
	return strings.Trim(value, "'")
}
