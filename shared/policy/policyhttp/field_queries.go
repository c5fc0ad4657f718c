package policyhttp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
	"sluice/shared/policy"
)

// listJurisdictions returns a page of the jurisdictions of a version.
func (s *Policies) listJurisdictions(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	Page[JurisdictionReply], error) {
	_, view, err := s.readView(ctx, r)
	if err != nil {
		return Page[JurisdictionReply]{}, err
	}
	place, err := s.openPage(r, placeOf("jurisdictions", r), maxJurisdictions)
	if err != nil {
		return Page[JurisdictionReply]{}, err
	}
	return cutPage(s, place, view.Jurisdictions, func(j policy.JurisdictionView) string { return j.ID },
		jurisdictionReplyOf)
}

// placeOf names the list of a request, for its page tokens.
func placeOf(kind string, r *platform.Request, more ...string) string {
	text, err := json.Marshal([]any{kind, strings.ToLower(r.PathValue("entityPolicyId")), r.PathValue("versionNumber"),
		r.Query(parameterWorkspace), more})
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return string(text)
}

// getField returns a field as it is published, or as it is in the draft of a workspace.
func (s *Policies) getField(ctx context.Context, r *platform.Request, _ platform.NoBody) (FieldReply, error) {
	id, err := pathID(r, "fieldId", errNoField)
	if err != nil {
		return FieldReply{}, err
	}
	v, view, err := s.readView(ctx, r)
	if err != nil {
		return FieldReply{}, err
	}
	i := slices.IndexFunc(view.Fields, func(f policy.FieldView) bool { return f.ID == id })
	if i < 0 {
		return FieldReply{}, errNoField
	}
	return fieldReplyOf(v, view.Fields[i]), nil
}

// FieldSearch selects fields of a version.
type FieldSearch struct {
	Filters         FieldFilters `json:"filters"`
	PageSize        *int         `json:"pageSize"`
	PaginationToken *string      `json:"paginationToken"`
}

// Check validates the data.
func (in *FieldSearch) Check(v *platform.ValidationErrors) {
	in.Filters.check(v)
	if in.PageSize != nil {
		v.CheckBetween("pageSize", *in.PageSize, 1, maxPage)
	}
}

// FieldFilters select fields. An empty list, in the filter or the field, matches everything.
type FieldFilters struct {
	Categories           []string            `json:"categories"`
	TargetEntities       []string            `json:"targetEntities"`
	JourneyLevelDataOnly bool                `json:"journeyLevelDataOnly"`
	JurisdictionIDs      []string            `json:"jurisdictionIds"`
	DataKeys             []string            `json:"dataKeys"`
	ChangeTypes          []policy.ChangeType `json:"changeTypes"`
	// SearchText is a part of the name or the data key, in upper and lower case alike.
	SearchText string `json:"searchText"`
}

func (in *FieldFilters) check(v *platform.ValidationErrors) {
	checkTexts(v, "filters.categories", in.Categories, maxItems, maxCategory)
	if v.CheckCount("filters.targetEntities", len(in.TargetEntities), len(policy.TargetEntities)) {
		for i, e := range in.TargetEntities {
			v.RequireOneOf(fmt.Sprintf("filters.targetEntities.%d", i), e, policy.TargetEntities...)
		}
	}
	v.CheckUUIDs("filters.jurisdictionIds", in.JurisdictionIDs, policy.MaxJurisdictions)
	checkTexts(v, "filters.dataKeys", in.DataKeys, maxItems, policy.MaxNameLength)
	types := []string{string(policy.Unchanged), string(policy.Added), string(policy.Updated), string(policy.Deleted),
		string(policy.Locked)}
	if v.CheckCount("filters.changeTypes", len(in.ChangeTypes), len(types)) {
		for i, t := range in.ChangeTypes {
			v.RequireOneOf(fmt.Sprintf("filters.changeTypes.%d", i), string(t), types...)
		}
	}
	v.CheckText("filters.searchText", in.SearchText, policy.MaxNameLength)
}

// match reports whether the filters select a field.
func (in *FieldFilters) match(f policy.FieldView) bool {
	text := strings.ToLower(in.SearchText)
	return overlaps(in.Categories, f.Categories) && overlaps(in.TargetEntities, f.TargetEntities) &&
		overlapsFold(in.JurisdictionIDs, f.JurisdictionIDs) && (!in.JourneyLevelDataOnly || f.IsJourneyLevelData) &&
		(len(in.DataKeys) == 0 || slices.Contains(in.DataKeys, f.DataKey)) &&
		(len(in.ChangeTypes) == 0 || slices.Contains(in.ChangeTypes, f.ChangeType)) &&
		(strings.Contains(strings.ToLower(f.Name), text) || strings.Contains(strings.ToLower(f.DataKey), text))
}

// overlaps reports whether two lists have an item in common, or one is empty.
func overlaps(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func overlapsFold(a, b []string) bool {
	lower := make([]string, len(a))
	for i, s := range a {
		lower[i] = strings.ToLower(s)
	}
	return overlaps(lower, b)
}

// filter returns the fields that the filters select.
func (in *FieldFilters) filter(fields []policy.FieldView) []policy.FieldView {
	var out []policy.FieldView
	for _, f := range fields {
		if in.match(f) {
			out = append(out, f)
		}
	}
	return out
}

// searchFields returns a page of the fields of a version that the filters select.
func (s *Policies) searchFields(ctx context.Context, r *platform.Request, in FieldSearch) (Page[FieldReply], error) {
	v, view, err := s.readView(ctx, r)
	if err != nil {
		return Page[FieldReply]{}, err
	}
	filters, err := json.Marshal(in.Filters)
	if err != nil {
		return Page[FieldReply]{}, err
	}
	place, err := s.openSearch(r, placeOf("fields", r, string(filters)), in.PageSize, in.PaginationToken)
	if err != nil {
		return Page[FieldReply]{}, err
	}
	return cutPage(s, place, in.Filters.filter(view.Fields), func(f policy.FieldView) string { return f.ID },
		func(f policy.FieldView) FieldReply { return fieldReplyOf(v, f) })
}

// SummaryRequest selects the fields of a summary.
type SummaryRequest struct {
	Filters SummaryFilters `json:"filters"`
}

// SummaryFilters select fields. An empty list of target entities matches everything.
type SummaryFilters struct {
	Categories           []string `json:"categories"`
	TargetEntities       []string `json:"targetEntities"`
	JourneyLevelDataOnly bool     `json:"journeyLevelDataOnly"`
}

func (in SummaryFilters) fields() FieldFilters {
	return FieldFilters{Categories: in.Categories, TargetEntities: in.TargetEntities,
		JourneyLevelDataOnly: in.JourneyLevelDataOnly}
}

// Check validates the data.
func (in *SummaryRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue("filters.categories", len(in.Filters.Categories) > 0)
	filters := in.Filters.fields()
	filters.check(v)
}

// FieldsSummary is the fields of a version by their data keys.
type FieldsSummary struct {
	FieldsByDataKey map[string][]FieldSummary `json:"fieldsByDataKey"`
}

// FieldSummary is a field in a summary.
type FieldSummary struct {
	FieldID            string        `json:"fieldId"`
	Name               string        `json:"name"`
	FieldType          string        `json:"fieldType"`
	FieldTypeID        string        `json:"fieldTypeId,omitempty"`
	Order              float64       `json:"order"`
	Categories         []string      `json:"categories"`
	TargetEntities     []string      `json:"targetEntities,omitempty"`
	JurisdictionIDs    []string      `json:"jurisdictionIds,omitempty"`
	IsReadOnly         bool          `json:"isReadOnly"`
	IsJourneyLevelData bool          `json:"isJourneyLevelData"`
	IsConditional      bool          `json:"isConditional"`
	MandatoryType      MandatoryType `json:"mandatoryType"`
}

// summarizeFields returns the fields of a version in some categories, by their data keys.
func (s *Policies) summarizeFields(ctx context.Context, r *platform.Request, in SummaryRequest) (FieldsSummary, error) {
	_, view, err := s.readView(ctx, r)
	if err != nil {
		return FieldsSummary{}, err
	}
	reply, budget, filters := FieldsSummary{map[string][]FieldSummary{}}, httpapi.ListBudget, in.Filters.fields()
	for _, f := range filters.filter(view.Fields) {
		if f.ChangeType == policy.Deleted {
			continue
		}
		summary := FieldSummary{FieldID: f.ID, Name: f.Name, FieldType: f.FieldType, FieldTypeID: f.FieldTypeID,
			Order: f.Order, Categories: f.Categories, TargetEntities: f.TargetEntities,
			JurisdictionIDs: f.JurisdictionIDs,
			IsReadOnly:      f.IsReadOnly, IsJourneyLevelData: f.IsJourneyLevelData,
			IsConditional: len(f.Conditions) > 0,
			MandatoryType: mandatoryTypeOf(f.Field)}
		if err := budget.Reserve([]any{f.DataKey, summary}, errReplyTooLarge); err != nil {
			return FieldsSummary{}, err
		}
		reply.FieldsByDataKey[f.DataKey] = append(reply.FieldsByDataKey[f.DataKey], summary)
	}
	return reply, nil
}

// listIndexable returns a page of the indexable fields of the published versions of all policies for a type of
// entities, in the order of the IDs of the policies and of the fields.
func (s *Policies) listIndexable(ctx context.Context, r *platform.Request, _ platform.NoBody) (Page[FieldReply],
	error) {
	entityType := r.PathValue("entityType")
	if !slices.Contains(policy.EntityTypes, entityType) {
		return Page[FieldReply]{}, r.InvalidParameter(fault.InPath, "entityType",
			"The value must be one of "+strings.Join(policy.EntityTypes, ", ")+".", platform.CodeOneOf)
	}
	place, err := s.openPage(r, "indexable "+entityType, maxPage)
	if err != nil {
		return Page[FieldReply]{}, err
	}
	fields, err := s.readIndexable(ctx, r.Tenant, entityType, place)
	if err != nil {
		return Page[FieldReply]{}, err
	}
	page, err := cutPage(s, place, fields, indexablePosition, func(f FieldReply) FieldReply { return f })
	page.TotalCount = nil
	return page, err
}

// indexablePosition is where a field is in the list of all indexable ones.
func indexablePosition(f FieldReply) string { return f.EntityPolicyID + "/" + f.ID }

// readIndexable reads indexable fields after a place, until there are more than a page can hold.
func (s *Policies) readIndexable(ctx context.Context, tenant, entityType string, place pagePlace) ([]FieldReply,
	error) {
	var fields []FieldReply
	firstPolicy, _, _ := strings.Cut(place.after, "/")
	for after := ""; ; {
		policies, next, err := s.Store.ListPolicies(ctx, tenant, after, policy.MaxPolicies)
		if err != nil {
			return nil, err
		}
		for _, p := range policies {
			if p.EntityType != entityType || p.PublishedVersion == 0 || p.ID < firstPolicy {
				continue
			}
			snapshot, err := s.Store.ReadContents(ctx, tenant, p.ID, p.PublishedVersion)
			if err != nil {
				return nil, faultOf(err, errNoVersion)
			}
			for _, f := range snapshot.Fields {
				view := fieldReplyOf(snapshot.Version, policy.FieldView{Field: f, ChangeType: policy.Unchanged})
				if f.IsIndexable && indexablePosition(view) > place.after {
					fields = append(fields, view)
				}
			}
			if len(fields) > place.size {
				return fields, nil
			}
		}
		if after = next; after == "" {
			return fields, nil
		}
	}
}
