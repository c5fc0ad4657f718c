package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"sluice/openapi/wire"
)

const (
	dataGroupCommands = "/policycommand/api/data-group"
	dataGroupQueries  = "/policyquery/api/data-group"
)

// Statuses of a version of a data group.
const (
	DataGroupDraft     = "Draft"
	DataGroupPending   = "Pending"
	DataGroupPublished = "Published"
)

// DataGroup is a version of a data group. Lists leave its fields out.
type DataGroup struct {
	wire.DataGroup
	Original
}

func dataGroupPath(base, id string, number int64) string {
	path := base + "/" + url.PathEscape(id)
	if number > 0 {
		path += "/version/" + strconv.FormatInt(number, 10)
	}
	return path
}

// DataGroups returns the newest versions of all data groups of the tenant, without their fields.
func (c *Client) DataGroups(ctx context.Context) ([]DataGroup, error) {
	return listPlatform[DataGroup](ctx, c, dataGroupQueries)
}

// DataGroup returns a version of a data group; number 0 is the newest.
func (c *Client) DataGroup(ctx context.Context, id string, number int64) (DataGroup, error) {
	var g DataGroup
	err := c.platform(ctx, http.MethodGet, dataGroupPath(dataGroupQueries, id, number), nil, &g)
	return g, err
}

// PolicyDataGroups returns the versions of data groups that a version of a policy refers to: those that it has pinned
// or, of a draft, those that are published at the moment. Their fields are left out.
func (c *Client) PolicyDataGroups(ctx context.Context, policyID string, number int64) ([]DataGroup, error) {
	return listPlatform[DataGroup](ctx, c, policyVersionPath(policyID, number)+"/data-groups")
}

// CreateDataGroup makes a data group and returns its first version, a draft.
func (c *Client) CreateDataGroup(ctx context.Context, data any) (DataGroup, error) {
	var out DataGroup
	return out, c.platform(ctx, http.MethodPost, dataGroupCommands, data, &out)
}

// AddDataGroupVersion makes the next version of a data group, a draft.
func (c *Client) AddDataGroupVersion(ctx context.Context, id string, data any) (DataGroup, error) {
	var out DataGroup
	return out, c.platform(ctx, http.MethodPost, dataGroupPath(dataGroupCommands, id, 0), data, &out)
}

// SaveDataGroup replaces a draft of a data group.
func (c *Client) SaveDataGroup(ctx context.Context, id string, number int64, data any) (DataGroup, error) {
	var out DataGroup
	return out, c.platform(ctx, http.MethodPut, dataGroupPath(dataGroupCommands, id, number), data, &out)
}

// SetDataGroupStatus moves a version of a data group to another status. One that has it already stays as it is.
func (c *Client) SetDataGroupStatus(ctx context.Context, id string, number int64, status string) (DataGroup, error) {
	var out DataGroup
	path := dataGroupPath(dataGroupCommands, id, number) + "/status"
	return out, c.platform(ctx, http.MethodPut, path, map[string]string{"status": status}, &out)
}
