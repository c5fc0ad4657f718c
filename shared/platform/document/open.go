package document

import (
	"context"
	"time"

	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
)

// OpenFor is how long a file that is not uploaded counts as open: as long as its upload URL lives at most, and a
// quarter of an hour.
const OpenFor = 75 * time.Minute

// Open is how much of a tenant is open: files that are expected or whose scan has no outcome yet.
type Open struct {
	Files int64
	// Bytes is how many bytes the files have at most: the sum of Document.FileLimit.
	Bytes int64
}

// OpenLimits are the settings of a tenant that CheckOpen reads.
var OpenLimits = []ratelimit.Setting{ratelimit.OpenDocuments, ratelimit.UnscannedBytes}

// OpenCounter is the part of Store that CheckOpen needs.
type OpenCounter interface {
	// CountOpen is as in Store.
	CountOpen(ctx context.Context, tenant string, enough Open, now time.Time) (Open, error)
}

// openRetry is how long a client is told to wait that has too much open. Most scans take less.
const openRetry = 10 * time.Second

// CheckOpen refuses another file of so many bytes at most of a tenant that has as much open as its limits allow. Files
// that are created at the same time may pass together.
func CheckOpen(ctx context.Context, s OpenCounter, tenant string, limits ratelimit.Settings, bytes int64,
	now time.Time) error {
	most := Open{limits.Get(ratelimit.OpenDocuments), limits.Get(ratelimit.UnscannedBytes)}
	if most == (Open{}) {
		return nil
	}
	open, err := s.CountOpen(ctx, tenant, most, now)
	switch {
	case err != nil:
		return err
	case most.Files > 0 && open.Files >= most.Files:
		return fault.Newf(fault.Throttled, "too_many_open_documents",
			"The tenant has as many documents whose file is not uploaded or not scanned as it may have: %d. Upload "+
				"the files, or delete documents whose file will not come; otherwise they count until an hour and a "+
				"quarter after their creation.", most.Files).WithRetryAfter(openRetry)
	case most.Bytes > 0 && open.Bytes+bytes > most.Bytes:
		return fault.Newf(fault.Throttled, "too_many_unscanned_bytes",
			"The file may have %d bytes, and with it the tenant would have more bytes that are not uploaded or not "+
				"scanned than it may have: %d of %d are taken. A file counts with its contentLength or, without one, "+
				"with the size limit: give contentLength, or wait for the scans.", bytes, open.Bytes, most.Bytes).
			WithRetryAfter(openRetry)
	}
	return nil
}
