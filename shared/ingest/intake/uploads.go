package intake

import (
	"context"
	"time"

	"sluice/shared/ingest/batch"
)

// Where GuardDuty scans, two events concern each uploaded object: S3 reports that it is complete, and GuardDuty reports
// what it found in it. Each comes at least once, in any order. Both are recorded on one Upload, and every write returns
// the whole upload, so that whichever event comes second knows both.

// ScanResult is the result of a scan, as GuardDuty names it.
type ScanResult string

// The results of a scan by GuardDuty.
const (
	NoThreatsFound ScanResult = "NO_THREATS_FOUND"
	ThreatsFound   ScanResult = "THREATS_FOUND"
	// Unsupported: the object is too large, of an unsupported kind, or protected by a password.
	Unsupported ScanResult = "UNSUPPORTED"
	// AccessDenied: GuardDuty may not read the object, or not yet.
	AccessDenied ScanResult = "ACCESS_DENIED"
	// ScanFailed: the scan itself failed.
	ScanFailed ScanResult = "FAILED"
)

// IsKnown reports whether r is one of the results above.
func (r ScanResult) IsKnown() bool { return r.IsFinal() || r == AccessDenied || r == ScanFailed }

// IsFinal reports whether another scan would have the same result.
func (r ScanResult) IsFinal() bool { return r.Severity() > 0 }

// Severity orders the final results: of two for one object the more severe one counts, whichever came first. It is 0
// for a result that is not final.
func (r ScanResult) Severity() int {
	switch r {
	case NoThreatsFound:
		return 1
	case Unsupported:
		return 2
	case ThreatsFound:
		return 3
	}
	return 0
}

// Upload is the state of an uploaded object.
type Upload struct {
	// Object has no size until S3 has reported the object.
	Object batch.Object
	// ReceivedAt is when the object was complete, from the first event of S3; zero until then.
	ReceivedAt time.Time
	// Result is the most severe final result; empty until there is one.
	Result ScanResult
	// Threat is the name of the first threat found.
	Threat string
	// Failures is the number of scans without a final result. An event that is delivered twice counts once.
	Failures int
}

// ScanReport is one event about the scan of an object.
type ScanReport struct {
	// Event is the ID of the event; a repeated delivery has the same one.
	Event string
	// Key, ETag and Version identify the object; the ETag has its quotes, as in batch.Object.
	Key, ETag, Version string
	Result             ScanResult
	// Threat is the name of the first threat found.
	Threat string
}

// UploadStore keeps uploads for some weeks, each under its key and ETag. Every method may be called concurrently and
// repeated; an error means that the outcome is unknown. Every write is one write of one item, is durable when the
// method returns, and returns the upload after it.
type UploadStore interface {
	// RecordArrival records that an object is complete, and that it is waiting for its scan. The time of the first call
	// counts. A call after StopWaiting makes the upload wait again.
	RecordArrival(ctx context.Context, o batch.Object, at time.Time) (Upload, error)
	// RecordScan records a final result if it is the most severe so far, and any other result as a failure.
	RecordScan(ctx context.Context, r ScanReport) (Upload, error)
	// Get returns an upload as of every write acknowledged before; the zero Upload if nothing is known of it.
	Get(ctx context.Context, o batch.Object) (Upload, error)
	// StopWaiting records that an upload is not waiting any more. It does nothing for an unknown object.
	StopWaiting(ctx context.Context, o batch.Object) error
	// EachWaiting calls visit with the uploads that are waiting and arrived before a time, in no particular order,
	// until visit returns an error, which it returns. It may miss the latest writes.
	EachWaiting(ctx context.Context, before time.Time, visit func(Upload) error) error
}
