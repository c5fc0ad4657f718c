package batch

import (
	"errors"
	"fmt"
	"time"
)

// ErrNoLists means that a tenant sees no list at all.
var ErrNoLists = errors.New("batch: there is no list to screen names with")

// UnknownListError names a list that a tenant does not see.
type UnknownListError struct{ List string }

// Error implements error. The text may be shown to the client who gave the name.
func (e *UnknownListError) Error() string { return fmt.Sprintf("There is no list %q.", e.List) }

// DefaultThreshold is the score that a hit reaches if the client does not say another one.
const DefaultThreshold = 80

// Screening is how the names of a batch's unknown entities are screened.
type Screening struct {
	// Lists are the names of the watchlists, as of the creation of the batch.
	Lists []string
	// Threshold is the score that a hit reaches, 0 to 100.
	Threshold float64
	// Reject means that lines with hits are rejected.
	Reject bool
	// Versions are the versions of the lists, pinned with the plan.
	Versions []ListVersion
}

// ListVersion is a version of a watchlist.
type ListVersion struct {
	// Owner is the tenant that owns the list, or the owner of shared lists.
	Owner string
	List  string
	// Version is the digest by which hits name it.
	Version string
	// SourceDate is the date of the list as its file says; zero if it does not.
	SourceDate time.Time
}

// ScreenResult is the committed result of screening the names of one partition.
type ScreenResult struct {
	// Names is the number of distinct names.
	Names int64
	// HitsKey names the work file of the hits; empty if there are none. HitsSections are its validation.Sections; empty
	// if a release committed the result that kept none.
	HitsKey, HitsSections string
}

// ScreeningVerdict is the result of the screening of a batch.
type ScreeningVerdict struct {
	// Names is the number of distinct names that were screened, and Hits that of alerts.
	Names, Hits int64
	// AlertsKey names the alerts in the work bucket; empty if there are none.
	AlertsKey string
	// AlertsShortened means that the alerts passed Batch.MaxReportBytes, so that the last ones are left out.
	AlertsShortened bool
}
