package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/batch"
	"sluice/shared/upload"
)

// Beside notifications of S3, the function is called with two kinds of events through EventBridge.
const (
	ScanResultType = "GuardDuty Malware Protection Object Scan Result"
	scheduleType   = "Scheduled Event"
)

// ScanResult is GuardDuty's event about one object
// (docs.aws.amazon.com/guardduty/latest/ug/monitor-with-eventbridge-s3-malware-protection.html). Keys that AWS may add are
// ignored; the ones that are read here must be there and mean something.
type ScanResult struct {
	Version    string           `json:"version"`
	ID         string           `json:"id"`
	DetailType string           `json:"detail-type"`
	Source     string           `json:"source"`
	Account    string           `json:"account"`
	Time       time.Time        `json:"time"`
	Region     string           `json:"region"`
	Resources  []string         `json:"resources"`
	Detail     ScanResultDetail `json:"detail"`
}

// ScanResultDetail is the part of the event that GuardDuty makes.
type ScanResultDetail struct {
	SchemaVersion string `json:"schemaVersion"`
	ScanStatus    string `json:"scanStatus"` // COMPLETED, SKIPPED or FAILED; the result says more
	ResourceType  string `json:"resourceType"`
	Object        struct {
		Bucket    string  `json:"bucketName"`
		Key       string  `json:"objectKey"` // as it is: EventBridge encodes nothing
		ETag      string  `json:"eTag"`
		Version   *string `json:"versionId"`
		Throttled bool    `json:"s3Throttled"`
	} `json:"s3ObjectDetails"`
	Result struct {
		Status  upload.Result `json:"scanResultStatus"`
		Threats []Threat      `json:"threats"`
		Reasons []string      `json:"statusReasons"`
	} `json:"scanResultDetails"`
}

// Threat is a thing that GuardDuty found.
type Threat struct {
	Name string `json:"name"`
}

// scanned reads the event, or says what is wrong with it.
func (r ScanResult) scanned() (upload.Scanned, error) {
	o := r.Detail.Object
	s := upload.Scanned{
		Event: r.ID, Key: o.Key, ETag: quoted(o.ETag), Version: versionOf(o.Version), Result: r.Detail.Result.Status,
	}
	if len(r.Detail.Result.Threats) > 0 {
		s.Threat = r.Detail.Result.Threats[0].Name
	}
	switch {
	case r.Source != "aws.guardduty" || r.Detail.ResourceType != "S3_OBJECT":
		return s, fmt.Errorf("scan result from %q about %q", r.Source, r.Detail.ResourceType)
	case r.ID == "" || o.Key == "" || o.ETag == "":
		return s, errors.New("scan result without id, key or ETag")
	case !s.Result.Known():
		return s, fmt.Errorf("unknown scan result %q", s.Result)
	}
	return s, nil
}

// versionOf is "" for an object in a bucket without versions, which events write as null, "null" or not at all.
func versionOf(v *string) string {
	if v == nil || *v == "null" {
		return ""
	}
	return *v
}

// quoted is an ETag as S3 takes it in If-Match. Events carry it without quotes.
func quoted(etag string) string { return `"` + strings.Trim(etag, `"`) + `"` }

// Handle takes one event: of S3, of GuardDuty, or of the clock.
func (in *Intake) Handle(ctx context.Context, event json.RawMessage) error {
	var kind struct {
		DetailType string          `json:"detail-type"`
		Records    json.RawMessage `json:"Records"`
		Event      string          `json:"Event"`
	}
	if err := json.Unmarshal(event, &kind); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	switch {
	case kind.Records != nil:
		var e events.S3Event
		if err := json.Unmarshal(event, &e); err != nil {
			return fmt.Errorf("read S3 event: %w", err)
		}
		return in.objects(ctx, e)
	case kind.Event == "s3:TestEvent": // S3 tries the notification out
		return nil
	case kind.DetailType == ScanResultType && in.Results != nil:
		var e ScanResult
		if err := json.Unmarshal(event, &e); err != nil {
			return fmt.Errorf("read scan result: %w", err)
		}
		return in.scanned(ctx, e)
	case kind.DetailType == scheduleType && in.Results != nil:
		return in.sweep(ctx)
	}
	return fmt.Errorf("event of a kind that is not taken: %q", kind.DetailType)
}

// objects takes in the objects of one S3 notification.
func (in *Intake) objects(ctx context.Context, event events.S3Event) error {
	var errs []error
	for _, r := range event.Records {
		key, err := url.QueryUnescape(r.S3.Object.Key)
		if err != nil {
			errs = append(errs, fmt.Errorf("object key %q: %w", r.S3.Object.Key, err))
			continue
		}
		object := batch.Object{
			Key: key, ETag: quoted(r.S3.Object.ETag), Version: versionOf(&r.S3.Object.VersionID), Size: r.S3.Object.Size,
		}
		if in.Results == nil || !ours(key) {
			errs = append(errs, in.Take(ctx, object, r.EventTime))
			continue
		}
		u, err := in.Results.Store.Arrived(ctx, object, r.EventTime)
		if err == nil {
			err = in.settle(ctx, u)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
