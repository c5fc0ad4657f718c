package setup

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Config holds every setting of every function, under the name of its environment variable. A function gets the
// settings that template.yaml gives it; the others are zero. Durations are given in whole seconds.
type Config struct {
	// LogLevel is DEBUG, INFO, WARN or ERROR; "" means INFO.
	LogLevel string `env:"LOG_LEVEL"`
	// MetricNamespace is the namespace of the metrics that functions write to their log; "" means that they write none.
	MetricNamespace string `env:"METRIC_NAMESPACE"`

	// Endpoint and StorageEndpoint are read by the AWS SDK itself. Here they only show that S3 is a local one.
	Endpoint        string `env:"AWS_ENDPOINT_URL"`
	StorageEndpoint string `env:"AWS_ENDPOINT_URL_S3"`

	// RetryMaxPause is the longest pause in milliseconds between two attempts of the SDK at one call; 0 means 5 s.
	RetryMaxPause int64 `env:"RETRY_MAX_PAUSE_MS"`

	BatchesTable      string `env:"TABLE_BATCHES"`
	TransactionsTable string `env:"TABLE_TRANSACTIONS"`
	EntitiesTable     string `env:"TABLE_ENTITIES"`
	RecordsTable      string `env:"TABLE_RECORDS"`
	ClientsTable      string `env:"TABLE_CLIENTS"`
	DocumentsTable    string `env:"TABLE_DOCUMENTS"`
	ExternalAuthTable string `env:"TABLE_EXTERNALAUTH"`
	WebhooksTable     string `env:"TABLE_WEBHOOKS"`
	ScreeningsTable   string `env:"TABLE_SCREENINGS"`
	OutboundTable     string `env:"TABLE_OUTBOUND"`
	WatchlistsTable   string `env:"TABLE_WATCHLISTS"`
	PoliciesTable     string `env:"TABLE_POLICIES"`
	LimitsTable       string `env:"TABLE_LIMITS"`
	AdmissionTable    string `env:"TABLE_ADMISSION"`
	IdempotencyTable  string `env:"TABLE_IDEMPOTENCY"`
	ObservationsTable string `env:"TABLE_OBSERVATIONS"`
	IndexTable        string `env:"TABLE_INDEX"`

	// UploadsBucket holds uploads/<tenant>/<batch id> and documents/<tenant>/<file id>.
	UploadsBucket string `env:"BUCKET_UPLOADS"`
	// WorkBucket holds work/<batch id>/..., reports/<tenant>/<batch id>/..., index/<tenant>/...,
	// watchlists/<owner>/<list>/... and policies/<tenant>/...
	WorkBucket string `env:"BUCKET_WORK"`
	// ExportBucket holds parquet/tenant=<tenant>/date=<date>/<batch id>.parquet.
	ExportBucket string `env:"BUCKET_EXPORT"`
	// StateMachine is the ARN of the state machine of batches.
	StateMachine string `env:"STATE_MACHINE_ARN"`
	// DeliveryMachineARN is the ARN of the state machine of deliveries to webhooks.
	DeliveryMachineARN string `env:"DELIVERY_MACHINE_ARN"`

	// ScreeningMachineARN is the ARN of the state machine of screening batches.
	ScreeningMachineARN string `env:"SCREENING_MACHINE_ARN"`
	// ResolutionMachineARN is the ARN of the state machine that sends resolutions to adapters.
	ResolutionMachineARN string `env:"RESOLUTION_MACHINE_ARN"`
	// ScreeningPatience is how long a screening provider may take to answer.
	ScreeningPatience time.Duration `env:"SCREENING_PATIENCE"`
	// ScreeningWidth is how many providers of a screening batch search at once.
	ScreeningWidth int64 `env:"SCREENING_WIDTH"`
	// ScreeningMaxMatches is how many matches of an entity one provider may have.
	ScreeningMaxMatches int64 `env:"SCREENING_MAX_MATCHES"`

	// AnnounceFunction is the name of the function that announces events.
	AnnounceFunction string `env:"ANNOUNCE_FUNCTION"`
	// CloseFunction is the name or the ARN of the function that ends batches.
	CloseFunction string `env:"CLOSE_FUNCTION"`
	// ExportFunction is the name of the function that writes accepted lines as Parquet.
	ExportFunction string `env:"EXPORT_FUNCTION"`
	// IndexFunction is the name of the function that indexes the lines of batches.
	IndexFunction string `env:"INDEX_FUNCTION"`
	// EventBusName is the name or the ARN of the event bus to which events are announced.
	EventBusName string `env:"EVENT_BUS"`

	// Issuer is the iss claim of tokens and receipts; "" means the address of the API.
	Issuer string `env:"ISSUER"`
	// Audience is the aud claim of tokens.
	Audience      string        `env:"AUDIENCE"`
	TokenLifetime time.Duration `env:"TOKEN_LIFETIME"`
	// TokenRequests is how many token requests may come from one address in five minutes; 0 means any number.
	TokenRequests int64 `env:"TOKEN_REQUESTS"`
	// SigningKey is the ID of the KMS key that signs before any rotation.
	SigningKey string `env:"SIGNING_KEY_ID"`
	// ReceiptKey is the ID of the KMS key that signs receipts before any rotation.
	ReceiptKey string `env:"RECEIPT_KEY_ID"`
	// SecretsKey is the ARN of the KMS key that encrypts the secrets of tenants.
	SecretsKey string `env:"SECRETS_KEY_ID"`

	UploadURLLifetime time.Duration `env:"UPLOAD_URL_LIFETIME"`
	// UploadPartBytes is the size of the parts of an upload in parts, unless there would be too many.
	UploadPartBytes     int64         `env:"UPLOAD_PART_BYTES"`
	DownloadURLLifetime time.Duration `env:"DOWNLOAD_URL_LIFETIME"`
	// PublicStorageURL is the address at which clients reach S3; "" means the same as for functions.
	PublicStorageURL string `env:"PUBLIC_STORAGE_URL"`
	MaxUploadBytes   int64  `env:"MAX_UPLOAD_BYTES"`
	// MaxUnpackRatio is how many times larger than a packed upload the unpacked file may be.
	MaxUnpackRatio int64 `env:"MAX_UNPACK_RATIO"`
	// ReportDays is the number of days after which the bucket deletes a report.
	ReportDays int64 `env:"REPORT_RETENTION_DAYS"`
	// ParquetDays is the number of days after which the bucket deletes the Parquet file of a batch; 0 means never.
	ParquetDays int64 `env:"PARQUET_RETENTION_DAYS"`
	// MalwareScan is guardduty, clamd or builtin.
	MalwareScan string `env:"MALWARE_SCAN"`
	// ClamdAddress is tcp://host:port or unix:///path.
	ClamdAddress string `env:"CLAMD_ADDRESS"`
	// ScanPatience is the time after which an upload without a result of GuardDuty counts as not scannable.
	ScanPatience time.Duration `env:"SCAN_PATIENCE"`

	// WebhookFirstPause and WebhookMaxPause bound the pauses between attempts to deliver to a webhook; after
	// WebhookPatience a delivery is given up.
	WebhookFirstPause time.Duration `env:"WEBHOOK_FIRST_PAUSE"`
	WebhookMaxPause   time.Duration `env:"WEBHOOK_MAX_PAUSE"`
	WebhookPatience   time.Duration `env:"WEBHOOK_PATIENCE"`
	// WebhookDisableAfter is how long no delivery to a webhook may have succeeded until giving one up disables it.
	WebhookDisableAfter time.Duration `env:"WEBHOOK_DISABLE_AFTER"`
	// DeliverCarriers is how many executions make attempts to deliver at a time.
	DeliverCarriers int64 `env:"DELIVER_CARRIERS"`
	// WebhookCollectTime is how long a delivery of the type Batch collects messages.
	WebhookCollectTime time.Duration `env:"WEBHOOK_COLLECT_TIME"`

	// PrivateReceivers lists the private networks that may be called; see outbound.ParseAddressPolicy.
	PrivateReceivers string `env:"OUTBOUND_PRIVATE_RECEIVERS"`

	// WatchlistRecheck is how long a function uses what it knows of the current versions of watchlists; zero means
	// catalog.DefaultRecheck.
	WatchlistRecheck time.Duration `env:"WATCHLIST_RECHECK"`
	// WatchlistMaxAge is the age of a watchlist from which on it is reported.
	WatchlistMaxAge time.Duration `env:"WATCHLIST_MAX_AGE"`

	// SweepAge is how long a batch must not have moved before the sweep looks at it.
	SweepAge time.Duration `env:"SWEEP_AGE"`
	// UploadPatience is the time after the end of its URL after which an upload that has not come is given up.
	UploadPatience time.Duration `env:"UPLOAD_PATIENCE"`

	// ChunkBytes is the size of a chunk; 0 means the larger of 8 MiB and a 256th of the file.
	ChunkBytes   int64 `env:"CHUNK_BYTES"`
	MaxLineBytes int64 `env:"MAX_LINE_BYTES"`
	// MaxTransactions is the largest number of transactions in a batch.
	MaxTransactions int64 `env:"MAX_TRANSACTIONS"`
	// MaxReportBytes is the size of a report in bytes after which its entries are short.
	MaxReportBytes int64 `env:"MAX_REPORT_BYTES"`

	// ValidateConcurrency, SettleConcurrency and IngestConcurrency are the numbers of chunks of a batch that are worked
	// on at once, ReconcileConcurrency and ScreenConcurrency those of ranges of partitions.
	ValidateConcurrency  int64 `env:"VALIDATE_CONCURRENCY"`
	ReconcileConcurrency int64 `env:"RECONCILE_CONCURRENCY"`
	ScreenConcurrency    int64 `env:"SCREEN_CONCURRENCY"`
	SettleConcurrency    int64 `env:"SETTLE_CONCURRENCY"`
	IngestConcurrency    int64 `env:"INGEST_CONCURRENCY"`
	// Slots are how many batches are validated and ingested at once; see admission.ParseLimits.
	Slots string `env:"SLOTS"`
	// WarmThroughput is "READ,WRITE": the units a second for which the table of transactions is warmed.
	WarmThroughput string `env:"TRANSACTIONS_WARM_THROUGHPUT"`
	// SmallBatchBytes is the length of the file of the largest batch that has the slots of small ones.
	SmallBatchBytes int64 `env:"SMALL_BATCH_BYTES"`
	// RoundChunks is the number of chunks that a batch ingests before it gives its slot back; 0 means all.
	RoundChunks int64 `env:"ROUND_CHUNKS"`
	// IngestTime is the time after which an ingesting function hands on its cursor.
	IngestTime time.Duration `env:"INGEST_SECONDS"`
}

// Load reads a Config by way of getenv and checks that the required variables are set. Its error names every variable
// that is missing or malformed, so that the first start of a broken deployment shows all of its faults.
func Load(getenv func(string) string, required ...string) (Config, error) {
	var c Config
	var faults []string
	isSet := map[string]bool{}
	fields := reflect.ValueOf(&c).Elem()
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Tag.Get("env")
		text := getenv(name)
		if text == "" {
			continue
		}
		isSet[name] = true
		if err := parseSetting(fields.Field(i), text); err != nil {
			faults = append(faults, name+" "+err.Error())
		}
	}
	for _, name := range required {
		if !isSet[name] {
			faults = append(faults, name+" is not set")
		}
	}
	if len(faults) > 0 {
		return Config{}, fmt.Errorf("configuration: %s", strings.Join(faults, "; "))
	}
	return c, nil
}

func parseSetting(field reflect.Value, text string) error {
	switch field.Interface().(type) {
	case string:
		field.SetString(text)
	case int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return errors.New("is not a whole number of 0 or more")
		}
		field.SetInt(n)
	case time.Duration:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			return errors.New("is not a number of seconds of 1 or more")
		}
		field.SetInt(int64(time.Duration(n) * time.Second))
	default:
		return errors.New("has a type that Load cannot read")
	}
	return nil
}
