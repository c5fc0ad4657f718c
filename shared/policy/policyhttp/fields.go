package policyhttp

import (
	"context"
	"strings"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy"
)

// FieldCreated is the reply to a new field.
type FieldCreated struct {
	FieldID string `json:"fieldId"`
}

// addField adds a field to the draft of a workspace.
func (s *Policies) addField(ctx context.Context, r *platform.Request, in FieldRequest) (FieldCreated, error) {
	w, err := workspaceOf(ctx, r)
	if err == nil {
		err = in.checkMeaning(r)
	}
	if err != nil {
		return FieldCreated{}, err
	}
	f := s.completeField(in.Field)
	audit.AddObject(ctx, "fieldId", f.ID)
	_, err = s.Store.AddField(ctx, w, f)
	return FieldCreated{f.ID}, faultOf(err, errNoPolicy)
}

// updateField replaces a field in the draft of a workspace.
func (s *Policies) updateField(ctx context.Context, r *platform.Request, in FieldRequest) (platform.NoData, error) {
	w, id, err := s.fieldOfPath(ctx, r)
	if err == nil {
		err = in.checkMeaning(r)
	}
	if err != nil {
		return platform.NoData{}, err
	}
	if in.ID != "" && !strings.EqualFold(in.ID, id) {
		return platform.NoData{}, r.Invalid("fieldId", "The value must be that of the path: a field keeps its ID.",
			CodeSameID)
	}
	in.ID = id
	_, err = s.Store.UpdateField(ctx, w, s.completeField(in.Field))
	return platform.NoData{}, faultOf(err, errNoField)
}

// deleteField deletes a field in the draft of a workspace.
func (s *Policies) deleteField(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	w, id, err := s.fieldOfPath(ctx, r)
	if err == nil {
		_, err = s.Store.DeleteField(ctx, w, id)
	}
	return platform.NoData{}, faultOf(err, errNoField)
}

// revertField takes back what the draft of a workspace does to a field.
func (s *Policies) revertField(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	w, id, err := s.fieldOfPath(ctx, r)
	if err == nil {
		_, err = s.Store.RevertField(ctx, w, id)
	}
	return platform.NoData{}, faultOf(err, errNoField)
}

// fieldOfPath returns the workspace and the field of a command.
func (s *Policies) fieldOfPath(ctx context.Context, r *platform.Request) (policy.Workspace, string, error) {
	w, err := workspaceOf(ctx, r)
	if err != nil {
		return w, "", err
	}
	id, err := pathID(r, "fieldId", errNoField)
	return w, id, err
}

// completeField returns a field with IDs of its own for all that has none, and all its UUIDs in lower case.
func (s *Policies) completeField(f policy.Field) policy.Field {
	if f.ID = strings.ToLower(f.ID); f.ID == "" {
		f.ID = s.NewID()
	}
	if f.HasDataGroup() {
		f.FieldTypeID = strings.ToLower(f.FieldTypeID)
	}
	for i, id := range f.JurisdictionIDs {
		f.JurisdictionIDs[i] = strings.ToLower(id)
	}
	s.completeConditions(f.Conditions)
	for i := range f.ConditionalValues {
		s.completeCondition(&f.ConditionalValues[i].Condition)
	}
	for _, r := range f.ValidationRules.All() {
		for i := range r.DynamicRules {
			s.completeCondition(&r.DynamicRules[i].Condition)
		}
	}
	return f
}

func (s *Policies) completeConditions(conditions []policy.Condition) {
	for i := range conditions {
		s.completeCondition(&conditions[i])
	}
}

func (s *Policies) completeCondition(c *policy.Condition) {
	if c.ID == "" {
		c.ID = s.NewID()
	}
}

// JurisdictionRequest is a jurisdiction of a policy.
type JurisdictionRequest struct {
	policy.Jurisdiction
}

// Check adds what is wrong with the data.
func (in *JurisdictionRequest) Check(v *platform.ValidationErrors) {
	if in.ID != "" {
		v.RequireUUID("jurisdictionId", in.ID)
	}
	v.RequireText("name", in.Name, policy.MaxNameLength)
	v.CheckText("description", in.Description, maxDescription)
	checkConditions(v, "conditions", in.Conditions)
}

// JurisdictionCreated is the reply to a new jurisdiction.
type JurisdictionCreated struct {
	JurisdictionID string `json:"jurisdictionId"`
}

// addJurisdiction adds a jurisdiction to the draft of a workspace.
func (s *Policies) addJurisdiction(ctx context.Context, r *platform.Request, in JurisdictionRequest) (
	JurisdictionCreated, error) {
	w, err := workspaceOf(ctx, r)
	if err != nil {
		return JurisdictionCreated{}, err
	}
	j := in.Jurisdiction
	if j.ID = strings.ToLower(j.ID); j.ID == "" {
		j.ID = s.NewID()
	}
	s.completeConditions(j.Conditions)
	audit.AddObject(ctx, "jurisdictionId", j.ID)
	_, err = s.Store.AddJurisdiction(ctx, w, j)
	return JurisdictionCreated{j.ID}, faultOf(err, errNoPolicy)
}

// updateJurisdiction replaces a jurisdiction in the draft of a workspace.
func (s *Policies) updateJurisdiction(ctx context.Context, r *platform.Request, in JurisdictionRequest) (
	platform.NoData, error) {
	w, id, err := s.jurisdictionOfPath(ctx, r)
	if err != nil {
		return platform.NoData{}, err
	}
	if in.ID != "" && !strings.EqualFold(in.ID, id) {
		return platform.NoData{}, r.Invalid("jurisdictionId",
			"The value must be that of the path: a jurisdiction keeps its ID.", CodeSameID)
	}
	in.ID = id
	s.completeConditions(in.Conditions)
	_, err = s.Store.UpdateJurisdiction(ctx, w, in.Jurisdiction)
	return platform.NoData{}, faultOf(err, errNoJurisdiction)
}

// deleteJurisdiction deletes a jurisdiction in the draft of a workspace.
func (s *Policies) deleteJurisdiction(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	platform.NoData, error) {
	w, id, err := s.jurisdictionOfPath(ctx, r)
	if err == nil {
		_, err = s.Store.DeleteJurisdiction(ctx, w, id)
	}
	return platform.NoData{}, faultOf(err, errNoJurisdiction)
}

// revertJurisdiction takes back what the draft of a workspace does to a jurisdiction.
func (s *Policies) revertJurisdiction(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	platform.NoData, error) {
	w, id, err := s.jurisdictionOfPath(ctx, r)
	if err == nil {
		_, err = s.Store.RevertJurisdiction(ctx, w, id)
	}
	return platform.NoData{}, faultOf(err, errNoJurisdiction)
}

// jurisdictionOfPath returns the workspace and the jurisdiction of a command.
func (s *Policies) jurisdictionOfPath(ctx context.Context, r *platform.Request) (policy.Workspace, string, error) {
	w, err := workspaceOf(ctx, r)
	if err != nil {
		return w, "", err
	}
	id, err := pathID(r, "jurisdictionId", errNoJurisdiction)
	return w, id, err
}
