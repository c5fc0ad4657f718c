package policies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/cmd/sluice/internal/policyfile"
	"sluice/internal/linefile"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// entityInput is what every request for an evaluation says, as the interface has it (docs/contract/policy.md).
type entityInput struct {
	JourneyID             *string                   `json:"journeyId,omitzero"`
	TargetEntity          string                    `json:"targetEntity,omitempty"`
	EvaluateJurisdictions bool                      `json:"evaluateJurisdictions"`
	Jurisdictions         []string                  `json:"jurisdictions,omitempty"`
	Categories            []string                  `json:"categories,omitempty"`
	Properties            property.Split            `json:"properties"`
	DataSources           map[string]jsontext.Value `json:"dataSources,omitempty"`
	JourneyLevelDataOnly  bool                      `json:"journeyLevelDataOnly,omitzero"`

	DisableFilteringForConditionalValues bool `json:"disableFilteringForConditionalValues,omitzero"`
}

// evaluationInput is what requests say that are not for reading only.
type evaluationInput struct {
	entityInput
	SkipValuesEvaluation        bool `json:"skipValuesEvaluation,omitzero"`
	ReturnValidationErrors      bool `json:"returnValidationErrors,omitzero"`
	EnableAccessLayersFiltering bool `json:"enableAccessLayersFiltering,omitzero"`
}

// readInput reads what is evaluated from the file of the request or of the entity.
func (e *evaluation) readInput(ctx context.Context) (evaluationInput, error) {
	if e.request != "" {
		return readEvaluationRequest(ctx, e.request)
	}
	text, err := readFile(ctx, e.entity)
	if err != nil {
		return evaluationInput{}, err
	}
	entity, err := policyfile.ParseEntity(e.entity, text)
	if err != nil {
		return evaluationInput{}, err
	}
	in := evaluationInput{
		entityInput: entityInput{
			TargetEntity: entity.TargetEntity, Jurisdictions: e.jurisdictions,
			EvaluateJurisdictions: e.jurisdictions == nil, Categories: e.categories, Properties: entity.Properties,
			DataSources: entity.DataSources,
		},
		SkipValuesEvaluation: e.skipValues, ReturnValidationErrors: true, EnableAccessLayersFiltering: e.filterLayers,
	}
	if e.target != "" {
		in.TargetEntity = e.target
	}
	if in.TargetEntity != "" && !slices.Contains(policy.TargetEntities, in.TargetEntity) {
		return in, fmt.Errorf("the target %q is not one of %s", in.TargetEntity,
			strings.Join(policy.TargetEntities, ", "))
	}
	if entity.JourneyID != "" {
		in.JourneyID = &entity.JourneyID
	}
	return in, nil
}

// readEvaluationRequest reads the data of a request, with the envelope around them or without.
func readEvaluationRequest(ctx context.Context, path string) (evaluationInput, error) {
	text, err := readFile(ctx, path)
	if err != nil {
		return evaluationInput{}, err
	}
	var envelope struct {
		Data evaluationInput `json:"data"`
	}
	if err = json.Unmarshal(text, &envelope, json.RejectUnknownMembers(true)); errors.Is(err, json.ErrUnknownName) {
		err = json.Unmarshal(text, &envelope.Data, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return evaluationInput{}, fmt.Errorf("%s is not a request for an evaluation: %w", path, err)
	}
	return envelope.Data, nil
}

// request returns what is evaluated on this machine.
func (in evaluationInput) request() evaluate.Request {
	r := evaluate.Request{
		TargetEntity: in.TargetEntity, EvaluateJurisdictions: in.EvaluateJurisdictions, Jurisdictions: in.Jurisdictions,
		Categories: in.Categories, Properties: in.Properties, DataSources: in.DataSources,
		JourneyLevelDataOnly: in.JourneyLevelDataOnly, SkipValuesEvaluation: in.SkipValuesEvaluation,
		ReturnValidationErrors:               in.ReturnValidationErrors,
		DisableFilteringForConditionalValues: in.DisableFilteringForConditionalValues,
		EnableAccessLayersFiltering:          in.EnableAccessLayersFiltering,
	}
	if in.JourneyID != nil {
		r.JourneyID = *in.JourneyID
	}
	return r
}

// findNames replaces the names of jurisdictions by their IDs. It returns an error for one that the policy does not
// have, and for a --category that no field has. The categories of a request are evaluated as they are.
func (e *evaluation) findNames(in *evaluationInput, c policy.Contents) error {
	var err error
	if in.Jurisdictions, err = findJurisdictions(in.Jurisdictions, c.Jurisdictions); err != nil {
		return err
	}
	return checkCategories(e.categories, c.Fields)
}

// checkCategories returns an error for the first of the categories that no field has.
func checkCategories(categories []string, fields []policy.Field) error {
	var all []string
	for _, f := range fields {
		all = append(all, f.Categories...)
	}
	for _, c := range categories {
		if !slices.Contains(all, c) {
			return fmt.Errorf("no field of the policy has the category %q; there are %s", c, listNames(all))
		}
	}
	return nil
}

// listNames writes names for people, each once and in order, or that there are none.
func listNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for i, name := range names {
		names[i] = linefile.Printable(name)
	}
	return strings.Join(names, ", ")
}

// findJurisdictions returns the IDs of jurisdictions that are named by their names or IDs.
func findJurisdictions(names []string, all []policy.Jurisdiction) ([]string, error) {
	var ids []string
	for _, name := range names {
		at := slices.IndexFunc(all, func(j policy.Jurisdiction) bool { return j.Name == name || j.ID == name })
		if at < 0 {
			var known []string
			for _, j := range all {
				known = append(known, j.Name)
			}
			return nil, fmt.Errorf("the policy has no jurisdiction %q; there are %s", name, listNames(known))
		}
		ids = append(ids, all[at].ID)
	}
	return ids, nil
}
