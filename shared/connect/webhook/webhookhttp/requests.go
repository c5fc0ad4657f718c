package webhookhttp

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
)

// Request is the body of the creation and of the change of a webhook. A change replaces all of it.
type Request struct {
	URL *string `json:"url"`
	// Enabled may be absent in a creation, and is true then.
	Enabled        *bool     `json:"enabled"`
	EventTypes     *[]string `json:"eventTypes"`
	Name           *string   `json:"name"`
	Secret         *string   `json:"secret"`
	EmailAddresses []string  `json:"emailAddresses"`
	Type           *string   `json:"type"`
	BatchSize      *int      `json:"batchSize"`
}

// Codes of validation errors; docs/errors.md explains them.
const (
	codeMissing   = "missing"
	codeEnum      = "enum"
	codeTooLong   = "string_too_long"
	codeTooMany   = "array_too_long"
	codeRange     = "number_range"
	codeURL       = "url"
	codeEmail     = "email"
	codeEventType = "event_type"
	codeDateTime  = "datetime"
	codePageToken = "page_token"
)

// text returns the string that an optional value points to, "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// check returns one fault.Invalid with everything that is wrong with a request.
func (in Request) check() error {
	var details []fault.Detail
	add := func(code, message string, path ...any) {
		details = append(details, fault.Detail{Source: fault.InBody, Path: path, Message: message, Code: code})
	}
	if in.URL == nil {
		add(codeMissing, "The value is missing.", "url")
	} else if message := webhook.CheckURL(*in.URL); message != "" {
		add(codeURL, message, "url")
	}
	if in.Enabled == nil {
		add(codeMissing, "The value is missing.", "enabled")
	}
	if in.EventTypes == nil {
		add(codeMissing, "The value is missing.", "eventTypes")
	} else if message, i := webhook.CheckEventTypes(*in.EventTypes); message != "" {
		add(codeEventType, message, append([]any{"eventTypes"}, indexes(i)...)...)
	}
	if utf8.RuneCountInString(text(in.Name)) > webhook.MaxNameChars {
		add(codeTooLong, fmt.Sprintf("The value has more than %d characters.", webhook.MaxNameChars), "name")
	}
	if problem := objects.TextProblem(text(in.Name)); problem != "" {
		add("control_character", problem, "name")
	}
	if utf8.RuneCountInString(text(in.Secret)) > webhook.MaxSecretChars {
		add(codeTooLong, fmt.Sprintf("The value has more than %d characters.", webhook.MaxSecretChars), "secret")
	}
	if len(in.EmailAddresses) > webhook.MaxEmailAddresses {
		add(codeTooMany, fmt.Sprintf("The list has more than %d items.", webhook.MaxEmailAddresses), "emailAddresses")
	} else {
		for i, address := range in.EmailAddresses {
			if !isEmailAddress(address) {
				add(codeEmail, "The value must be an email address such as someone@example.com.", "emailAddresses", i)
			}
		}
	}
	if t := webhook.Type(text(in.Type)); in.Type != nil && t != webhook.Single && t != webhook.Batch {
		add(codeEnum, fmt.Sprintf("The value must be %s or %s.", webhook.Single, webhook.Batch), "type")
	}
	if n := in.BatchSize; n != nil && (*n < webhook.MinBatchSize || *n > webhook.MaxBatchSize) {
		add(codeRange, fmt.Sprintf("The value must be between %d and %d.", webhook.MinBatchSize, webhook.MaxBatchSize),
			"batchSize")
	}
	if len(details) > 0 {
		return fault.NewInvalid(details...)
	}
	return nil
}

// indexes returns the path of an item of a list, empty for the list as a whole.
func indexes(i int) []any {
	if i < 0 {
		return nil
	}
	return []any{i}
}

// maxEmailBytes is the length of the longest email address (RFC 5321).
const maxEmailBytes = 254

func isEmailAddress(s string) bool {
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && len(s) <= maxEmailBytes
}

// apply returns a webhook with the settings of a checked request.
func (in Request) apply(w webhook.Webhook) webhook.Webhook {
	w.URL, w.Enabled, w.EventTypes, w.Name = *in.URL, *in.Enabled, slices.Clone(*in.EventTypes), text(in.Name)
	w.EmailAddresses = append([]string{}, in.EmailAddresses...)
	w.Type, w.BatchSize = webhook.Single, webhook.DefaultBatchSize
	if in.Type != nil {
		w.Type = webhook.Type(*in.Type)
	}
	if in.BatchSize != nil {
		w.BatchSize = *in.BatchSize
	}
	return w
}

// ResendRequest is the body of the request to send again everything since a time.
type ResendRequest struct {
	Since *string `json:"since"`
	// Outcomes select the deliveries that are sent again; nil for those that have not succeeded.
	Outcomes []string `json:"outcomes"`
	// Next continues an earlier request; see ResendReply.
	Next *string `json:"next"`
}

// endedOutcomes are the outcomes of deliveries that have ended.
var endedOutcomes = []string{string(webhook.Successful), string(webhook.Failed), string(webhook.TimedOut)}

// check returns the time since when and the outcomes that a request asks for.
func (in ResendRequest) check() (since time.Time, outcomes []string, err error) {
	var details []fault.Detail
	add := func(code, message string, path ...any) {
		details = append(details, fault.Detail{Source: fault.InBody, Path: path, Message: message, Code: code})
	}
	if in.Since == nil {
		add(codeMissing, "The value is missing.", "since")
	} else if since, err = time.Parse(time.RFC3339Nano, *in.Since); err != nil {
		add(codeDateTime, "The value must be a time such as 2026-01-31T23:59:59Z.", "since")
	}
	outcomes = in.Outcomes
	if outcomes == nil {
		outcomes = []string{string(webhook.Failed), string(webhook.TimedOut)}
	}
	for i, o := range outcomes {
		if !slices.Contains(endedOutcomes, o) {
			add(codeEnum, "The value must be one of "+strings.Join(endedOutcomes, ", ")+".", "outcomes", i)
		}
	}
	if len(details) > 0 {
		return since, nil, fault.NewInvalid(details...)
	}
	return since, outcomes, nil
}
