package policy

import (
	"fmt"
	"slices"
)

// DataGroupStatus is the state of a version of a data group.
type DataGroupStatus string

// The statuses of a version of a data group. A draft is submitted, and then published or rejected; a rejected one
// becomes a draft again. The last three never change, except that a published version can be archived.
const (
	DataGroupDraft     DataGroupStatus = "Draft"
	DataGroupPending   DataGroupStatus = "Pending"
	DataGroupRejected  DataGroupStatus = "Rejected"
	DataGroupPublished DataGroupStatus = "Published"
	DataGroupArchived  DataGroupStatus = "Archived"
	DataGroupDeleted   DataGroupStatus = "Deleted"
)

// Limits of data groups.
const (
	// MaxDataGroups is how many data groups a tenant can have.
	MaxDataGroups = 500
	// MaxDataGroupFields is how many fields a data group can have.
	MaxDataGroupFields = 200
	// MaxNesting is how deep custom groups can be nested.
	MaxNesting = 5
)

// DataGroup is a version of a group of fields: the fields of the items of a collection, or of a custom group.
type DataGroup struct {
	ID      string          `json:"dataGroupId"`
	Version int64           `json:"versionNumber"`
	Status  DataGroupStatus `json:"status"`
	Name    string          `json:"name"`
	// Description is the purpose of the group.
	Description string `json:"description,omitempty"`
	// PrimaryField is the data key of the field with the type of an item; "" if there is none.
	PrimaryField string `json:"primaryDataGroupField,omitempty"`
	// DisableMultiselectPrimaryFieldOnAdd tells the client's form to add one item at a time.
	DisableMultiselectPrimaryFieldOnAdd bool    `json:"disableMultiselectPrimaryFieldOnAdd,omitempty"`
	Fields                              []Field `json:"dataGroupFields"`
	// Reason is the reason for the status of the version. Bundles do not have it.
	Reason string `json:"reason,omitempty"`
	// Revision is 1 for a new version and grows by one with every write. Writes are conditional on it. Bundles do not
	// have it.
	Revision int64 `json:"revision,omitempty"`
}

// CheckNext returns a *StatusError if a version of a data group of the status s cannot get another one.
func (s DataGroupStatus) CheckNext(next DataGroupStatus) error {
	if slices.Contains(dataGroupTransitions[s], next) {
		return nil
	}
	return &StatusError{From: s, To: next, Allowed: dataGroupTransitions[s]}
}

// StatusError means that a version of a data group cannot get a status from the one that it has. It is matched with
// errors.As.
type StatusError struct {
	From, To DataGroupStatus
	// Allowed are the statuses that it can get, none if it stays as it is.
	Allowed []DataGroupStatus
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("policy: a data group cannot become %s from %s", e.To, e.From)
}

var dataGroupTransitions = map[DataGroupStatus][]DataGroupStatus{
	DataGroupDraft:     {DataGroupPending, DataGroupDeleted},
	DataGroupPending:   {DataGroupPublished, DataGroupRejected, DataGroupDraft},
	DataGroupRejected:  {DataGroupDraft, DataGroupDeleted},
	DataGroupPublished: {DataGroupArchived},
}
