package ratelimit

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Name is the name of a limit, which a route has. Stored states contain it: it never changes.
type Name string

// The limits.
const (
	UploadURLs Name = "upload_urls"
	// UploadParts is for all requests together about uploads in parts.
	UploadParts        Name = "upload_parts"
	BatchStatuses      Name = "batch_statuses"
	BatchResults       Name = "batch_results"
	BatchLists         Name = "batch_lists"
	BatchCancels       Name = "batch_cancels"
	SingleTransactions Name = "single_transactions"
	TransactionReads   Name = "transaction_reads"
	// Observability is for all endpoints of the observability interface together.
	Observability Name = "observability"
	// Platform is for all calls of the platform interface together that have no limit of their own.
	Platform Name = "platform"
	// EntityCommands is for all commands together that change entities and drafts.
	EntityCommands Name = "entity_commands"
	// WebhookSends is for the tests and resends of one webhook.
	WebhookSends Name = "webhook_sends"
	// TokenRequests is for token requests from one address. It is a setting of the deployment, not of a tenant.
	TokenRequests Name = "token_requests"
	// WholeAPI means that only API Gateway limits a route, together with all others of the stack. It has no windows.
	WholeAPI Name = "whole_api"
)

// Setting is a number in the settings of a tenant, by the name that administrators give it. Stored settings contain it,
// and functions of different releases exchange it: it never changes.
type Setting string

// The settings of a tenant. 0 means no limit.
const (
	UploadURLsPerMinute         Setting = "upload_urls_per_minute"
	UploadPartsPerMinute        Setting = "upload_parts_per_minute"
	BatchStatusesPerMinute      Setting = "batch_statuses_per_minute"
	BatchResultsPerMinute       Setting = "batch_results_per_minute"
	BatchListsPerMinute         Setting = "batch_lists_per_minute"
	BatchCancelsPerMinute       Setting = "batch_cancels_per_minute"
	SingleTransactionsPerSecond Setting = "single_transactions_per_second"
	TransactionReadsPerSecond   Setting = "transaction_reads_per_second"
	ObservabilityPerMinute      Setting = "observability_per_minute"
	PlatformPerSecond           Setting = "platform_per_second"
	EntityCommandsPerMinute     Setting = "entity_commands_per_minute"
	EntityCommandsPerHour       Setting = "entity_commands_per_hour"
	EntityCommandsPerDay        Setting = "entity_commands_per_day"
	WebhookSendsPerMinute       Setting = "webhook_sends_per_minute"
	// OpenBatches is how many batches may not have ended.
	OpenBatches Setting = "open_batches"
	// UnvalidatedBytes is how many bytes may not be validated, those of batches that await their upload included.
	UnvalidatedBytes Setting = "unvalidated_bytes"
	// OpenDocuments is how many files of documents may be expected or not scanned, and UnscannedBytes how many bytes
	// they may have together.
	OpenDocuments  Setting = "open_documents"
	UnscannedBytes Setting = "unscanned_bytes"
	// OpenAnswers is how many uploads of answers of screening adapters may be valid and not used.
	OpenAnswers Setting = "open_answers"
)

// definition is a setting, its default, and the window that it sets; no window for a setting that is not a rate.
type definition struct {
	setting Setting
	value   int64
	limit   Name
	period  time.Duration
	// meaning says what the setting counts, for administrators.
	meaning string
}

// definitions are the settings in the order in which people read them.
var definitions = []definition{
	{UploadURLsPerMinute, 20, UploadURLs, time.Minute,
		"requests for upload URLs of batches"},
	{UploadPartsPerMinute, 300, UploadParts, time.Minute,
		"requests about uploads in parts"},
	{BatchStatusesPerMinute, 120, BatchStatuses, time.Minute,
		"requests for statuses of batches"},
	{BatchResultsPerMinute, 120, BatchResults, time.Minute,
		"requests for validation and screening results and receipts"},
	{BatchListsPerMinute, 60, BatchLists, time.Minute,
		"requests for lists of batches"},
	{BatchCancelsPerMinute, 60, BatchCancels, time.Minute,
		"requests to cancel batches"},
	{SingleTransactionsPerSecond, 500, SingleTransactions, time.Second,
		"single transactions"},
	{TransactionReadsPerSecond, 50, TransactionReads, time.Second,
		"requests for stored transactions, and to find them"},
	{ObservabilityPerMinute, 100, Observability, time.Minute,
		"requests to the observability endpoints together"},
	{PlatformPerSecond, 200, Platform, time.Second,
		"calls of platform paths and webhooks together, but for the following"},
	{EntityCommandsPerMinute, 200, EntityCommands, time.Minute,
		"commands that change entities, together"},
	{EntityCommandsPerHour, 2_500, EntityCommands, time.Hour,
		"the same in an hour"},
	{EntityCommandsPerDay, 15_000, EntityCommands, 24 * time.Hour,
		"the same in a day"},
	{WebhookSendsPerMinute, 10, WebhookSends, time.Minute,
		"tests and resends of one webhook, beside platform_per_second"},
	{OpenBatches, 100, "", 0,
		"batches that have not ended"},
	{UnvalidatedBytes, 100_000_000_000, "", 0,
		"bytes that are not validated; a batch without content_length counts with the size limit"},
	{OpenDocuments, 1_000, "", 0,
		"documents whose file is not uploaded or not scanned"},
	{UnscannedBytes, 2_200_000_000_000, "", 0,
		"bytes of these files; without contentLength, each counts with the size limit"},
	{OpenAnswers, 1_000, "", 0,
		"uploads of answers of screening adapters that are not used"},
}

// AllSettings returns every setting, in the order in which people read them.
func AllSettings() []Setting {
	names := make([]Setting, len(definitions))
	for i, d := range definitions {
		names[i] = d.setting
	}
	return names
}

// Default returns the value of a setting for a tenant without a value of its own.
func (s Setting) Default() int64 { return s.definition().value }

// Meaning says what the setting counts.
func (s Setting) Meaning() string { return s.definition().meaning }

func (s Setting) definition() definition {
	i := slices.IndexFunc(definitions, func(d definition) bool { return d.setting == s })
	if i < 0 {
		return definition{}
	}
	return definitions[i]
}

// Max returns the greatest value of a setting.
func (s Setting) Max() int64 {
	if s == UnvalidatedBytes || s == UnscannedBytes {
		return 1_000_000_000_000_000
	}
	return 1_000_000_000 // a request in a nanosecond, of a limit for each second
}

// Settings are the settings of a tenant that differ from the defaults, 0 for no limit. Nil means that none does.
type Settings map[Setting]int64

// Unlimited returns the settings of a tenant without any limit.
func Unlimited() Settings {
	s := Settings{}
	for _, d := range definitions {
		s[d.setting] = 0
	}
	return s
}

// Get returns the value of a setting: the tenant's own or the default. 0 means no limit.
func (s Settings) Get(name Setting) int64 {
	if value, ok := s[name]; ok {
		return value
	}
	return name.Default()
}

// Limit returns a limit as the settings make it. It has no windows if there is no such limit.
func (s Settings) Limit(name Name) Limit {
	l := Limit{Name: name}
	for _, d := range definitions {
		if value := s.Get(d.setting); d.limit == name && name != "" && value > 0 {
			l.Windows = append(l.Windows, Window{d.period, value})
		}
	}
	return l
}

// Settings returns the settings that are the windows of a limit.
func (n Name) Settings() []Setting {
	var names []Setting
	for _, d := range definitions {
		if n != "" && d.limit == n {
			names = append(names, d.setting)
		}
	}
	return names
}

// TokenRequestLimit is the limit of token requests from one address: so many in five minutes, 0 for no limit.
func TokenRequestLimit(requests int64) Limit {
	l := Limit{Name: TokenRequests}
	if requests > 0 {
		l.Windows = []Window{{5 * time.Minute, requests}}
	}
	return l
}

// Attribute is the name of the caller's attribute that carries Settings.String from the authorizer to the functions.
// Functions of different releases exchange it: it never changes.
const Attribute = "limits"

// String returns the settings as ParseSettings reads them: "" if none differs from the defaults.
func (s Settings) String() string {
	var parts []string
	for name, value := range s {
		parts = append(parts, string(name)+"="+strconv.FormatInt(value, 10))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// ParseSettings is the inverse of Settings.String. It leaves out settings that another release may have written and
// this one does not know.
func ParseSettings(text string) Settings {
	var s Settings
	for part := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n > Setting(name).Max() || !slices.Contains(AllSettings(), Setting(name)) {
			continue
		}
		if s == nil {
			s = Settings{}
		}
		s[Setting(name)] = n
	}
	return s
}
