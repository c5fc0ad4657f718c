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

	"sluice/shared/ingest/batch"
)

// The values of detail-type of the events that EventBridge delivers. S3 delivers its notifications itself.
const (
	// ScanEventType is the type of a ScanEvent.
	ScanEventType = "GuardDuty Malware Protection Object Scan Result"
	scheduleType  = "Scheduled Event"
	// planStatusType begins that of a PlanEvent; the status follows: Warning or Error.
	planStatusType = "GuardDuty Malware Protection Resource Status "
)

// EventEnvelope has the members of every event that EventBridge delivers.
type EventEnvelope struct {
	Version    string    `json:"version"`
	ID         string    `json:"id"`
	DetailType string    `json:"detail-type"`
	Source     string    `json:"source"`
	Account    string    `json:"account"`
	Time       time.Time `json:"time"`
	Region     string    `json:"region"`
	Resources  []string  `json:"resources"`
}

// ScanEvent is GuardDuty's event about one object
// (docs.aws.amazon.com/guardduty/latest/ug/monitor-with-eventbridge-s3-malware-protection.html). Members that AWS may
// add are ignored; the members that are read must be present and valid.
type ScanEvent struct {
	EventEnvelope
	Detail ScanEventDetail `json:"detail"`
}

// ScanEventDetail is the part of the event that GuardDuty makes.
type ScanEventDetail struct {
	SchemaVersion string `json:"schemaVersion"`
	// ScanStatus is COMPLETED, SKIPPED or FAILED; the result is more specific.
	ScanStatus   string `json:"scanStatus"`
	ResourceType string `json:"resourceType"`
	Object       struct {
		Bucket string `json:"bucketName"`
		// Key is not encoded, unlike in the notifications of S3.
		Key       string  `json:"objectKey"`
		ETag      string  `json:"eTag"`
		Version   *string `json:"versionId"`
		Throttled bool    `json:"s3Throttled"`
	} `json:"s3ObjectDetails"`
	Result struct {
		Status  ScanResult `json:"scanResultStatus"`
		Threats []Threat   `json:"threats"`
		Reasons []string   `json:"statusReasons"`
	} `json:"scanResultDetails"`
}

// Threat is one threat that GuardDuty found.
type Threat struct {
	Name string `json:"name"`
}

// PlanEvent is GuardDuty's event about a protection plan that does not scan all objects of its bucket any more. The
// account may have other plans; the log names the bucket.
type PlanEvent struct {
	EventEnvelope
	Detail struct {
		SchemaVersion string    `json:"schemaVersion"`
		Time          time.Time `json:"eventTime"`
		Bucket        struct {
			Name string `json:"bucketName"`
		} `json:"s3BucketDetails"`
		Status  string `json:"resourceStatus"`
		Reasons []struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"statusReasons"`
	} `json:"detail"`
}

// report returns the outcome that the event reports about the scan of an object. It returns an error if the event is
// not valid.
func (e ScanEvent) report() (ScanReport, error) {
	o := e.Detail.Object
	r := ScanReport{
		Event: e.ID, Key: o.Key, ETag: quoteETag(o.ETag), Version: versionID(o.Version), Result: e.Detail.Result.Status,
	}
	if len(e.Detail.Result.Threats) > 0 {
		r.Threat = e.Detail.Result.Threats[0].Name
	}
	switch {
	case e.Source != "aws.guardduty" || e.Detail.ResourceType != "S3_OBJECT":
		return r, fmt.Errorf("scan result from %q about %q", e.Source, e.Detail.ResourceType)
	case e.ID == "" || o.Key == "" || o.ETag == "":
		return r, errors.New("scan result without an ID, a key or an ETag")
	case !r.Result.IsKnown():
		return r, fmt.Errorf("unknown scan result %q", r.Result)
	}
	return r, nil
}

// versionID returns "" for an object in a bucket without versions, whose version is null, "null" or absent in events.
func versionID(v *string) string {
	if v == nil || *v == "null" {
		return ""
	}
	return *v
}

// quoteETag returns an ETag as S3 takes it in If-Match. In events it has no quotes.
func quoteETag(etag string) string { return `"` + strings.Trim(etag, `"`) + `"` }

// Handle handles one event: of S3, of GuardDuty or of the schedule. It returns an error for an event of any other kind,
// so that the event is kept as a dead letter.
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
		return in.processObjects(ctx, e)
	case kind.Event == "s3:TestEvent": // sent by S3 when the notification is configured
		return nil
	case kind.DetailType == ScanEventType && in.GuardDuty != nil:
		var e ScanEvent
		if err := json.Unmarshal(event, &e); err != nil {
			return fmt.Errorf("read scan event: %w", err)
		}
		return in.recordScan(ctx, e)
	case strings.HasPrefix(kind.DetailType, planStatusType):
		var e PlanEvent
		if err := json.Unmarshal(event, &e); err != nil {
			return fmt.Errorf("read event of a protection plan: %w", err)
		}
		// An alarm counts this message.
		in.Log.ErrorContext(ctx, "the malware protection plan is not active", "bucket", e.Detail.Bucket.Name,
			"event", e.DetailType, "status", e.Detail.Status, "reasons", e.Detail.Reasons)
		return nil
	case kind.DetailType == scheduleType:
		return in.sweep(ctx)
	}
	return fmt.Errorf("unknown kind of event: detail-type %q", kind.DetailType)
}

// processObjects processes the objects of one S3 notification. One that fails does not keep the others from being
// processed.
func (in *Intake) processObjects(ctx context.Context, event events.S3Event) error {
	var errs []error
	for _, r := range event.Records {
		key, err := url.QueryUnescape(r.S3.Object.Key)
		if err != nil {
			errs = append(errs, fmt.Errorf("object key %q: %w", r.S3.Object.Key, err))
			continue
		}
		object := batch.Object{
			Key: key, ETag: quoteETag(r.S3.Object.ETag), Version: versionID(&r.S3.Object.VersionID),
			Size: r.S3.Object.Size,
		}
		errs = append(errs, in.processArrival(ctx, object, r.EventTime))
	}
	return errors.Join(errs...)
}

// processArrival processes an object that S3, or the sweep in its place, reports as complete.
func (in *Intake) processArrival(ctx context.Context, object batch.Object, receivedAt time.Time) error {
	if in.GuardDuty == nil || !in.isUpload(object.Key) {
		return in.Process(ctx, object, receivedAt)
	}
	u, err := in.GuardDuty.Uploads.RecordArrival(ctx, object, receivedAt)
	if err != nil {
		return err
	}
	return in.resolveUpload(ctx, u)
}
