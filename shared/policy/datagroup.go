package policy

// DataGroupStatus is the state of a version of a data group.
type DataGroupStatus string

// The statuses of a version of a data group. A draft is submitted, and then published or rejected; a rejected one becomes
// a draft again. The last three never change, except that what is published can be archived.
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

// DataGroup is a version of a group of fields: the fields of the items of a collection, or those of a custom group.
type DataGroup struct {
	ID      string          `json:"dataGroupId"`
	Version int64           `json:"versionNumber"`
	Status  DataGroupStatus `json:"status"`
	Name    string          `json:"name"`
	// Description is what the group is for.
	Description string `json:"description,omitempty"`
	// PrimaryField is the data key of the field that says what an item is; "" if there is none.
	PrimaryField string `json:"primaryDataGroupField,omitempty"`
	// DisableMultiselectPrimaryFieldOnAdd tells the client's form to add one item at a time.
	DisableMultiselectPrimaryFieldOnAdd bool    `json:"disableMultiselectPrimaryFieldOnAdd,omitempty"`
	Fields                              []Field `json:"dataGroupFields"`
	// Revision grows by one with every write. Writes are conditional on it.
	Revision int64 `json:"revision,omitempty"`
}
