// Package upload joins what is known of an uploaded object where the malware scan is not our own: that the object is complete,
// as S3 tells, and what the scanner found in it, as GuardDuty tells. Both come at least once and in any order; whichever comes
// second knows both.
package upload

import (
	"context"
	"time"

	"sluice/shared/batch"
)

// Result is what GuardDuty says of an object, in its own words.
type Result string

const (
	Clean       Result = "NO_THREATS_FOUND"
	Threats     Result = "THREATS_FOUND"
	Unsupported Result = "UNSUPPORTED"   // by its size or kind, or protected by a password
	Denied      Result = "ACCESS_DENIED" // GuardDuty may not read it, or not yet
	Failed      Result = "FAILED"        // the scan itself failed
)

// Known reports whether r is a result that there is.
func (r Result) Known() bool { return r.Final() || r == Denied || r == Failed }

// Final reports whether another scan would say the same.
func (r Result) Final() bool { return r.Weight() > 0 }

// Weight orders the final results: of two for one object the heavier stands, whichever came first.
func (r Result) Weight() int {
	switch r {
	case Clean:
		return 1
	case Unsupported:
		return 2
	case Threats:
		return 3
	}
	return 0
}

// Upload is an object and what is known of it.
type Upload struct {
	Object     batch.Object // its size is known from S3 only
	ReceivedAt time.Time    // when it was complete, from the first event of S3; zero before
	Result     Result       // the heaviest final one; "" before
	Threat     string       // name of the first threat
	Failures   int          // scans that came to no final result, each counted once
}

// Scanned is one result of a scan.
type Scanned struct {
	Event              string // id of the event that told it; a repetition has the same
	Key, ETag, Version string // the ETag with quotes, as in batch.Object
	Result             Result
	Threat             string
}

// Store keeps uploads for some weeks, each under its key and ETag. Every method is safe for concurrent use and can be
// repeated; every write is one write of one item and returns all that is known after it.
type Store interface {
	// Arrived records that the object is complete. The first time stays. The upload waits from now on.
	Arrived(ctx context.Context, o batch.Object, at time.Time) (Upload, error)
	// Scanned records a result.
	Scanned(ctx context.Context, s Scanned) (Upload, error)
	// Get reads an upload as of every write acknowledged before; the zero Upload when nothing is known of it.
	Get(ctx context.Context, o batch.Object) (Upload, error)
	// Settled ends the waiting.
	Settled(ctx context.Context, o batch.Object) error
	// Waiting calls f with the uploads that wait and arrived before a time. It may lag behind writes.
	Waiting(ctx context.Context, before time.Time, f func(Upload) error) error
}
