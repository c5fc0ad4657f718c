package setup

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Config is every setting of every function. A function gets the ones that template.yaml gives it; the others stay zero.
// The names in the tags are the environment variables. Durations are given in whole seconds.
type Config struct {
	LogLevel string `env:"LOG_LEVEL"` // DEBUG, INFO, WARN or ERROR; "" is INFO

	// Read by the AWS SDK itself; here they only tell that S3 is not AWS's own.
	Endpoint        string `env:"AWS_ENDPOINT_URL"`
	StorageEndpoint string `env:"AWS_ENDPOINT_URL_S3"`

	BatchesTable      string `env:"TABLE_BATCHES"`
	TransactionsTable string `env:"TABLE_TRANSACTIONS"`
	EntitiesTable     string `env:"TABLE_ENTITIES"`
	RecordsTable      string `env:"TABLE_RECORDS"`
	ClientsTable      string `env:"TABLE_CLIENTS"`
	DocumentsTable    string `env:"TABLE_DOCUMENTS"`
	UploadsBucket     string `env:"BUCKET_UPLOADS"` // uploads/<tenant>/<batch id>, documents/<tenant>/<file id>
	WorkBucket        string `env:"BUCKET_WORK"`    // work/<batch id>/..., reports/<tenant>/<batch id>/...
	StateMachine      string `env:"STATE_MACHINE_ARN"`

	Issuer        string        `env:"ISSUER"` // "": the address of the API
	Audience      string        `env:"AUDIENCE"`
	TokenLifetime time.Duration `env:"TOKEN_LIFETIME"`
	SigningKey    string        `env:"SIGNING_KEY_ID"` // the KMS key that signs before any rotation

	UploadURLLifetime   time.Duration `env:"UPLOAD_URL_LIFETIME"`
	DownloadURLLifetime time.Duration `env:"DOWNLOAD_URL_LIFETIME"`
	PublicStorageURL    string        `env:"PUBLIC_STORAGE_URL"` // S3 as clients see it; "": as the functions do
	MaxUploadBytes      int64         `env:"MAX_UPLOAD_BYTES"`
	ReportDays          int64         `env:"REPORT_RETENTION_DAYS"` // after which the bucket drops a report
	MalwareScan         string        `env:"MALWARE_SCAN"`          // guardduty, clamd or builtin
	ClamdAddress        string        `env:"CLAMD_ADDRESS"`         // tcp://host:port or unix:///path
	ScanPatience        time.Duration `env:"SCAN_PATIENCE"`         // with GuardDuty, after which an upload without a result cannot be scanned

	ChunkBytes      int64         `env:"CHUNK_BYTES"` // 0: the larger of 8 MiB and a 256th of the file
	MaxLineBytes    int64         `env:"MAX_LINE_BYTES"`
	MaxTransactions int64         `env:"MAX_TRANSACTIONS"` // of one batch
	MapConcurrency  int64         `env:"MAP_CONCURRENCY"`  // chunks worked on at once in one batch
	IngestTime      time.Duration `env:"INGEST_SECONDS"`   // after which an ingesting function hands on its cursor
}

// Load reads a Config through getenv and checks that the named variables are set. The error names every one that is
// missing or malformed, so that a broken deployment shows itself whole at the first start.
func Load(getenv func(string) string, required ...string) (Config, error) {
	var c Config
	var wrong []string
	set := map[string]bool{}
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("env")
		text := getenv(name)
		if text == "" {
			continue
		}
		set[name] = true
		if err := parse(v.Field(i), text); err != nil {
			wrong = append(wrong, name+" "+err.Error())
		}
	}
	for _, name := range required {
		if !set[name] {
			wrong = append(wrong, name+" is not set")
		}
	}
	if len(wrong) > 0 {
		return Config{}, fmt.Errorf("configuration: %s", strings.Join(wrong, "; "))
	}
	return c, nil
}

func parse(field reflect.Value, text string) error {
	switch field.Interface().(type) {
	case string:
		field.SetString(text)
	case int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("is no number of 0 or more")
		}
		field.SetInt(n)
	case time.Duration:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			return fmt.Errorf("is no number of seconds")
		}
		field.SetInt(int64(time.Duration(n) * time.Second))
	default:
		return fmt.Errorf("has a type that Load does not know")
	}
	return nil
}
