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
func (s *Policies) addField(ctx context.Context, r *platform.Request, in FieldRequest) (
	platform.WithWarnings[FieldCreated], error) {
	w, err := workspaceOf(ctx, r)
	if err == nil {
		err = in.checkMeaning(r)
	}
	if err != nil {
		return platform.WithWarnings[FieldCreated]{}, err
	}
	f := s.completeField(in.Field)
	audit.AddObject(ctx, "fieldId", f.ID)
	_, err = s.Store.AddField(ctx, w, f)
	return platform.WithWarnings[FieldCreated]{Data: FieldCreated{f.ID}, Messages: warningsAbout(f)},
		faultOf(err, errNoPolicy)
}

// warningsAbout returns a warning for each field with something that has no effect here.
func warningsAbout(fields ...policy.Field) []platform.Message {
	var warnings []platform.Message
	for _, f := range fields {
		if f.DateTimePeriodFormulaSchema != nil {
			warnings = append(warnings, platform.Warning("period_formula_not_evaluated",
				"dateTimePeriodFormulaSchema of "+f.DataKey+" is kept and has no effect: it is not evaluated here."))
		}
	}
	return warnings
}

// updateField replaces a field in the draft of a workspace.
func (s *Policies) updateField(ctx context.Context, r *platform.Request, in FieldRequest) (
	platform.WithWarnings[platform.NoData], error) {
	none := platform.WithWarnings[platform.NoData]{}
	w, id, err := objectOfPath(ctx, r, "fieldId", errNoField)
	if err == nil {
		err = in.checkMeaning(r)
	}
	if err != nil {
		return none, err
	}
	if in.ID != "" && !strings.EqualFold(in.ID, id) {
		return none, r.Invalid("fieldId", "The value must equal the ID in the path: a field keeps its ID.",
			CodeSameID)
	}
	in.ID = id
	_, err = s.Store.UpdateField(ctx, w, s.completeField(in.Field))
	none.Messages = warningsAbout(in.Field)
	return none, faultOf(err, errNoField)
}

// changeByID returns the handler of a command that changes the object of an ID in the path, in the draft of a
// workspace. missing is the fault for an object that does not exist.
func (s *Policies) changeByID(parameter string, missing error,
	change func(policy.Store, context.Context, policy.Workspace, string) (policy.Change, error)) commandWithoutBody {
	return func(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
		w, id, err := objectOfPath(ctx, r, parameter, missing)
		if err == nil {
			_, err = change(s.Store, ctx, w, id)
		}
		return platform.NoData{}, faultOf(err, missing)
	}
}

// objectOfPath returns the workspace of a command, and the ID in its path.
func objectOfPath(ctx context.Context, r *platform.Request, parameter string, missing error) (policy.Workspace, string,
	error) {
	w, err := workspaceOf(ctx, r)
	if err != nil {
		return w, "", err
	}
	id, err := pathID(r, parameter, missing)
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

// Check validates the data.
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
	w, id, err := objectOfPath(ctx, r, "jurisdictionId", errNoJurisdiction)
	if err != nil {
		return platform.NoData{}, err
	}
	if in.ID != "" && !strings.EqualFold(in.ID, id) {
		return platform.NoData{}, r.Invalid("jurisdictionId",
			"The value must equal the ID in the path: a jurisdiction keeps its ID.", CodeSameID)
	}
	in.ID = id
	s.completeConditions(in.Conditions)
	_, err = s.Store.UpdateJurisdiction(ctx, w, in.Jurisdiction)
	return platform.NoData{}, faultOf(err, errNoJurisdiction)
}
