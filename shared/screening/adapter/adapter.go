// Package adapter holds the contract with the adapters of foreign screening providers (docs/contract/screening.md,
// Adapters): the messages in both directions, how they are encrypted and authenticated, what their data is, and the
// client that sends them. It knows neither AWS nor the receptor's HTTP endpoint, so adapters can be made of it.
package adapter

import (
	"strings"

	"sluice/shared/screening"
)

// Type is the type of a message. Its form on the wire is its value.
type Type string

// The types of messages that are sent and received. The other types of the contract, which begin with OngoingScreening,
// are refused.
const (
	Screen         Type = "Screen"
	ResolveMatches Type = "ResolveMatches"
	// Test is the type of messages that test the token and the keys of an adapter. They change nothing.
	Test Type = "Test"
)

// Types of ongoing screening, which the service does not do.
const (
	OngoingScreening           Type = "OngoingScreening"
	OngoingScreeningUpdate     Type = "OngoingScreeningUpdate"
	OngoingScreeningGetResults Type = "OngoingScreeningGetResults"
)

// Outcomes of requests to an adapter.
const (
	Success = "Success"
	Error   = "Error"
)

// The headers of messages in both directions.
const (
	TenantHeader   = "X-Tenant-Id"
	ProviderHeader = "X-Provider-Id"
	// IVHeader has the initialization vector and MACHeader the message authentication code, in Base64.
	IVHeader  = "X-Encryption-Iv"
	MACHeader = "X-Authentication-Mac"
)

// Paths below the URL of an adapter.
const (
	ScreenPath         = "/api/screen"
	ResolveMatchesPath = "/api/resolvematches"
)

// Limits of messages from adapters.
const (
	// MaxBodyBytes is the size of the largest message to the receptor. Larger responses are uploaded.
	MaxBodyBytes = 4 << 20
	// MaxUploadBytes is the size of the largest uploaded response.
	MaxUploadBytes = 16 << 20
	// MaxJSONBytes is the size of the largest response as JSON, decrypted and unpacked.
	MaxJSONBytes = 32 << 20
	// MaxRatio is how many times as large as the packed response the unpacked one may be.
	MaxRatio = 100
	// MaxMatches is the largest number of matches of one response.
	MaxMatches = 10_000
	// MaxErrorDetails is the largest number of characters of errorDetails.
	MaxErrorDetails = 1000
)

// Message is the body of a call of an adapter.
type Message struct {
	// Data is the content of the message, in the form of Seal or Encode.
	Data string `json:"Data"`
	// ID is the ID of the batch.
	ID         string `json:"Id"`
	Tenant     string `json:"Tenant"`
	ProviderID string `json:"ProviderId"`
	Type       Type   `json:"Type"`
}

// Reply is the body of a message of an adapter to the receptor.
type Reply struct {
	// ID is the ID of the batch, as in the message that is answered.
	ID         string `json:"id"`
	Tenant     string `json:"tenant"`
	ProviderID string `json:"providerId"`
	Type       Type   `json:"type"`
	// Status is Success or Error.
	Status string `json:"status"`
	// ErrorDetails explains the status Error to people. It is not authenticated; see Answer.ErrorDetails.
	ErrorDetails string `json:"errorDetails,omitempty"`
	// Response is an Answer in the form that Seal or Encode returns; UploadID names the upload that has it instead.
	Response string `json:"response,omitempty"`
	UploadID string `json:"uploadId,omitempty"`
}

// RejectedByAdapter is the failure of a provider whose adapter answered the call with 400.
func RejectedByAdapter() *screening.ProviderError {
	return &screening.ProviderError{Source: screening.SourceAdapter, Code: screening.CodeRejected,
		Message: "The adapter answered 400: it rejected the message."}
}

// FailedCall is the failure of a provider whose adapter could not be called.
func FailedCall(message string) *screening.ProviderError {
	return &screening.ProviderError{Source: screening.SourceInvoker, Code: screening.CodeNotSpecified, Message: message}
}

// FailedSearch is the failure of a provider whose adapter answered with the status Error and these details.
func FailedSearch(details string) *screening.ProviderError {
	details = strings.TrimSpace(details)
	if details == "" {
		details = "The adapter answered with the status Error and no details."
	}
	return &screening.ProviderError{Source: screening.SourceAdapter, Code: screening.CodeNotSpecified, Message: details}
}

// InvalidResponse is the failure of a provider whose adapter sent a response that is not valid.
func InvalidResponse(message string) *screening.ProviderError {
	return &screening.ProviderError{Source: screening.SourceAdapter, Code: screening.CodeInvalidAnswer,
		Message: message}
}
