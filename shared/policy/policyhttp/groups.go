package policyhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/policy"
)

func (s *Policies) groupRoutes() []httpapi.Route {
	const get, post, put = http.MethodGet, http.MethodPost, http.MethodPut
	const create, edit = permission.PolicyConfigurationCreate, permission.PolicyConfigurationEdit
	status := command(put, groupCommands+ofGroupVersion+"/status", edit, platform.Endpoint(s.setGroupStatus))
	status.Permissions = []string{edit, permission.PolicyConfigurationApprove, permission.PolicyConfigurationArchive}
	return []httpapi.Route{
		command(post, groupCommands, create, platform.Endpoint(s.createGroup)),
		command(post, groupCommands+ofGroup, create, platform.Endpoint(s.addGroupVersion)),
		command(post, groupCommands+ofGroupVersion+"/draft", create, platform.Endpoint(s.copyGroupVersion)),
		command(put, groupCommands+ofGroupVersion, edit, platform.Endpoint(s.saveGroup)),
		status,
		query(get, groupQueries, platform.Endpoint(s.listGroups)),
		query(get, groupQueries+ofGroup, platform.Endpoint(s.getNewestGroup)),
		query(get, groupQueries+ofGroup+"/versions", platform.Endpoint(s.listGroupVersions)),
		query(get, groupQueries+ofGroupVersion, platform.Endpoint(s.getGroup)),
	}
}

// GroupRequest is a version of a data group.
type GroupRequest struct {
	// DataGroupID is the ID that the client chooses for a new group, so that its creation can be repeated; elsewhere it
	// is absent or equals the ID in the path.
	DataGroupID                         string         `json:"dataGroupId"`
	Name                                string         `json:"name"`
	Description                         string         `json:"description"`
	PrimaryDataGroupField               string         `json:"primaryDataGroupField"`
	DisableMultiselectPrimaryFieldOnAdd bool           `json:"disableMultiselectPrimaryFieldOnAdd"`
	DataGroupFields                     []policy.Field `json:"dataGroupFields"`
	// Revision is the revision that the client has read; without it, any stored revision is replaced.
	Revision *int64 `json:"revision"`
}

// Check validates the data.
func (in *GroupRequest) Check(v *platform.ValidationErrors) {
	if in.DataGroupID != "" {
		v.RequireUUID("dataGroupId", in.DataGroupID)
	}
	v.RequireText("name", in.Name, policy.MaxNameLength)
	v.CheckText("description", in.Description, maxDescription)
	v.CheckText("primaryDataGroupField", in.PrimaryDataGroupField, policy.MaxNameLength)
	v.RequireValue("dataGroupFields", len(in.DataGroupFields) > 0)
	if !v.CheckCount("dataGroupFields", len(in.DataGroupFields), policy.MaxDataGroupFields) {
		return
	}
	var ids []platform.Item
	for i, f := range in.DataGroupFields {
		path := fmt.Sprintf("dataGroupFields.%d", i)
		checkField(v, path, f)
		if f.ID != "" {
			ids = append(ids, platform.Item{Property: path + ".id", Value: strings.ToLower(f.ID)})
		}
	}
	v.CheckUniqueItems("dataGroupFields", ids)
}

// checkMeaning checks the rules of a group beyond its schema: its ID equals the one in the path, its primary field is
// one of its fields, and its expressions can be compiled.
func (in *GroupRequest) checkMeaning(r *platform.Request) error {
	id := r.PathValue("dataGroupId")
	return r.Validate(func(v *platform.ValidationErrors) {
		if id != "" && in.DataGroupID != "" && !strings.EqualFold(id, in.DataGroupID) {
			v.Add("dataGroupId", "The value must equal the ID in the path: a data group keeps its ID.", CodeSameID)
		}
		isPrimary := func(f policy.Field) bool { return f.DataKey == in.PrimaryDataGroupField }
		if in.PrimaryDataGroupField != "" && !slices.ContainsFunc(in.DataGroupFields, isPrimary) {
			v.Add("primaryDataGroupField", "The value must be the data key of one of the fields.", CodePrimary)
		}
		for i := range in.DataGroupFields {
			checkExpressions(v, fmt.Sprintf("dataGroupFields.%d", i), in.DataGroupFields[i])
		}
	})
}

// groupOf returns the group that a request describes.
func (s *Policies) groupOf(id string, in GroupRequest) policy.DataGroup {
	g := policy.DataGroup{ID: id, Name: in.Name, Description: in.Description, PrimaryField: in.PrimaryDataGroupField,
		DisableMultiselectPrimaryFieldOnAdd: in.DisableMultiselectPrimaryFieldOnAdd}
	for _, f := range in.DataGroupFields {
		g.Fields = append(g.Fields, s.completeField(f))
	}
	return g
}

// GroupChanged is the reply to a new version of a data group.
type GroupChanged struct {
	DataGroupID   string                 `json:"dataGroupId"`
	VersionNumber int64                  `json:"versionNumber"`
	Status        policy.DataGroupStatus `json:"status"`
	Revision      int64                  `json:"revision"`
}

func groupChangedOf(ctx context.Context, g policy.DataGroup) GroupChanged {
	audit.AddObject(ctx, "dataGroupId", g.ID)
	audit.AddObject(ctx, "versionNumber", strconv.FormatInt(g.Version, 10))
	return GroupChanged{g.ID, g.Version, g.Status, g.Revision}
}

// groupStored is the reply to a stored version of a data group, with warnings about its fields.
type groupStored = platform.WithWarnings[GroupChanged]

// groupStoredOf returns the reply to a version that was stored, or could not be.
func groupStoredOf(ctx context.Context, g policy.DataGroup, err error) (groupStored, error) {
	if err != nil {
		return groupStored{}, faultOf(err, errNoGroup)
	}
	return groupStored{Data: groupChangedOf(ctx, g), Messages: warningsAbout(g.Fields...)}, nil
}

// checkNew checks the request for a new version.
func checkNew(r *platform.Request, in GroupRequest) error {
	if in.Revision != nil {
		return r.Invalid("revision", "A new version has no revision yet. Leave it out.", codeForbidden)
	}
	return in.checkMeaning(r)
}

// createGroup stores the first version of a new group, a draft.
func (s *Policies) createGroup(ctx context.Context, r *platform.Request, in GroupRequest) (groupStored, error) {
	if err := checkNew(r, in); err != nil {
		return groupStored{}, err
	}
	id := strings.ToLower(in.DataGroupID)
	if id == "" {
		id = s.NewID()
	}
	g, err := s.Store.CreateDataGroup(ctx, r.Tenant, s.groupOf(id, in))
	return groupStoredOf(ctx, g, err)
}

// addGroupVersion stores a new version of a group, a draft.
func (s *Policies) addGroupVersion(ctx context.Context, r *platform.Request, in GroupRequest) (groupStored, error) {
	id, err := pathID(r, "dataGroupId", errNoGroup)
	if err == nil {
		err = checkNew(r, in)
	}
	if err != nil {
		return groupStored{}, err
	}
	g, err := s.Store.AddDataGroupVersion(ctx, r.Tenant, s.groupOf(id, in))
	return groupStoredOf(ctx, g, err)
}

// copyGroupVersion stores a copy of a version of a group as a new version, a draft.
func (s *Policies) copyGroupVersion(ctx context.Context, r *platform.Request, _ platform.NoBody) (groupStored, error) {
	source, err := s.groupOfPath(ctx, r)
	if err != nil {
		return groupStored{}, err
	}
	g, err := s.Store.AddDataGroupVersion(ctx, r.Tenant, source)
	return groupStoredOf(ctx, g, err)
}

// saveGroup replaces a draft of a group.
func (s *Policies) saveGroup(ctx context.Context, r *platform.Request, in GroupRequest) (groupStored, error) {
	if err := in.checkMeaning(r); err != nil {
		return groupStored{}, err
	}
	var saved policy.DataGroup
	err := s.changeGroup(ctx, r, in.Revision, func(stored policy.DataGroup) (err error) {
		g := s.groupOf(stored.ID, in)
		g.Version, g.Status, g.Revision = stored.Version, stored.Status, stored.Revision
		saved, err = s.Store.SaveDataGroup(ctx, r.Tenant, g)
		return err
	})
	return groupStoredOf(ctx, saved, err)
}

// GroupStatusRequest is another status of a version of a data group.
type GroupStatusRequest struct {
	Status   policy.DataGroupStatus `json:"status"`
	Reason   string                 `json:"reason"`
	Revision *int64                 `json:"revision"`
}

// Check validates the data.
func (in *GroupStatusRequest) Check(v *platform.ValidationErrors) {
	v.RequireOneOf("status", string(in.Status), string(policy.DataGroupDraft), string(policy.DataGroupPending),
		string(policy.DataGroupRejected), string(policy.DataGroupPublished), string(policy.DataGroupArchived),
		string(policy.DataGroupDeleted))
	v.CheckText("reason", in.Reason, maxNote)
}

// permissionFor returns the permission that a status needs.
func permissionFor(status policy.DataGroupStatus) string {
	switch status {
	case policy.DataGroupPublished, policy.DataGroupRejected:
		return permission.PolicyConfigurationApprove
	case policy.DataGroupArchived:
		return permission.PolicyConfigurationArchive
	}
	return permission.PolicyConfigurationEdit
}

// setGroupStatus moves a version of a group to another status.
func (s *Policies) setGroupStatus(ctx context.Context, r *platform.Request, in GroupStatusRequest) (GroupChanged,
	error) {
	if err := requirePermission(r.Caller, permissionFor(in.Status)); err != nil {
		return GroupChanged{}, err
	}
	var changed policy.DataGroup
	err := s.changeGroup(ctx, r, in.Revision, func(stored policy.DataGroup) (err error) {
		changed, err = s.Store.SetDataGroupStatus(ctx, r.Tenant, stored, in.Status, in.Reason)
		return err
	})
	if err != nil {
		return GroupChanged{}, err
	}
	return groupChangedOf(ctx, changed), nil
}

// maxAttempts is the number of attempts at a change that others overtake.
const maxAttempts = 8

// changeGroup changes the version of a group that the path names, if its revision is the given one; nil means any.
func (s *Policies) changeGroup(ctx context.Context, r *platform.Request, revision *int64,
	change func(stored policy.DataGroup) error) error {
	for range maxAttempts {
		g, err := s.groupOfPath(ctx, r)
		if err != nil {
			return err
		}
		if revision != nil && *revision != g.Revision {
			return errBusy
		}
		if err = change(g); !errors.Is(err, policy.ErrChanged) {
			return faultOf(err, errNoGroup)
		}
	}
	return errBusy
}

// groupOfPath reads the version of a group that the path names.
func (s *Policies) groupOfPath(ctx context.Context, r *platform.Request) (policy.DataGroup, error) {
	id, err := pathID(r, "dataGroupId", errNoGroup)
	if err != nil {
		return policy.DataGroup{}, err
	}
	number, err := pathNumber(r)
	if err != nil {
		return policy.DataGroup{}, err
	}
	g, err := s.Store.GetDataGroup(ctx, r.Tenant, id, number)
	return g, faultOf(err, errNoGroup)
}
