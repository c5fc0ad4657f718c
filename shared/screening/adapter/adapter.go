// Package adapter holds the contract with the adapters of foreign screening providers (docs/contract/screening.md,
// Adapters): the messages in both directions, how they are encrypted and authenticated, what their data is, and the
// client that sends them. It knows neither AWS nor the receptor's HTTP endpoint, so adapters can be made of it.
package adapter

import (
	"context"
	"errors"
	"strings"
	"time"

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

// ErrNoAdapter means that a provider has no adapter, as the built-in one.
var ErrNoAdapter = errors.New("the provider has no adapter")

// KeysOf returns the keys of a provider whose keys are revealed. It returns nil for a provider without authentication,
// whose messages are not encrypted either. Its errors explain the configuration: that there is no adapter, that a key
// is not valid, or that messages would be encrypted without authentication, so that they could be changed unnoticed.
func KeysOf(p screening.Provider) (*Keys, error) {
	switch a := p.Adapter; {
	case a == nil:
		return nil, ErrNoAdapter
	case a.IsAuthenticationActive:
		return ParseKeys(a.EncryptionKey.Reveal(), a.AuthenticationKey.Reveal())
	case a.EncryptionKey != "":
		return nil, errors.New("there is a key for encryption, but authentication is not active")
	}
	return nil, nil
}

// Upload is the place for a response that is too large for a message. Its file has the text of the member response.
type Upload struct {
	Tenant string
	// ID is a UUID.
	ID        string
	CreatedAt time.Time
	// CreatedBy is the ID of the client that asked for it.
	CreatedBy string
	// Expires is until when a message may name the upload.
	Expires time.Time
	// UsedBy names the message that has used the upload; "" if none has.
	UsedBy string
}

// UploadKey returns the key of an upload's file in the bucket of work files.
func UploadKey(tenant, id string) string { return "answers/" + tenant + "/" + id }

var (
	// ErrNoUpload means that the tenant has no such upload.
	ErrNoUpload = errors.New("adapter: no such upload")
	// ErrUploadUsed means that another message has used the upload.
	ErrUploadUsed = errors.New("adapter: the upload is used")
)

// UploadStore keeps uploads until some time after they have expired. It is safe for concurrent use.
type UploadStore interface {
	// CountOpenUploads returns how many uploads of a tenant no message has used and one still may. It stops counting
	// at enough, and may miss the latest writes.
	CountOpenUploads(ctx context.Context, tenant string, enough int64, now time.Time) (int64, error)
	// CreateUpload stores a new upload.
	CreateUpload(ctx context.Context, u Upload) error
	// GetUpload reads an upload of a tenant. It returns ErrNoUpload if there is none.
	GetUpload(ctx context.Context, tenant, id string) (Upload, error)
	// UseUpload records the message that uses an upload. Repeating it with the same message is success; it returns
	// ErrUploadUsed if another one has used the upload, and ErrNoUpload if there is none.
	UseUpload(ctx context.Context, tenant, id, message string) error
}
