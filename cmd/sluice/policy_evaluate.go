package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/internal/cli"
	"sluice/internal/policyfile"
	"sluice/shared/access"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
	"sluice/shared/property"
)

func evaluatePolicyCommand() *cli.Command {
	var e evaluation
	return &cli.Command{
		Name: "evaluate", Args: "FILE", Summary: "evaluate a policy for an entity",
		Description: `
Prints the fields that the entity has, with their values and what is wrong with those. FILE is evaluated on this machine,
as the service evaluates it.

The entity is a file with "properties" and, if conditions read them, "dataSources" (docs/policy.md shows both). In place of
an entity, --request names the body of a request of the interface. The jurisdictions are those whose conditions are met,
or those that --jurisdiction names. The exit code is 1 if something is wrong with a value.`,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&e.entity, "entity", "", "`FILE` with the entity, in JSON or YAML; - is standard input")
			f.StringVar(&e.request, "request", "", "`FILE` with the request, in JSON; - is standard input")
			addMultiFlag(f, &e.categories, "category", "only fields of the `CATEGORY`; may be repeated (default all)")
			addMultiFlag(f, &e.jurisdictions, "jurisdiction", "only fields of the jurisdiction `NAME`; may be repeated")
			f.StringVar(&e.target, "target", "", "`TARGET`: Client or Related Party (default that of the entity, or both)")
			f.StringVar(&e.layers, "layers", "",
				"access `LAYERS` of the caller, geographic ones, a colon, business-related ones (default Global:Enterprise)")
			f.BoolVar(&e.filterLayers, "filter-layers", false, "leave out fields whose layers the caller lacks")
			f.BoolVar(&e.skipValues, "skip-values", false, "no default, conditional and calculated values")
			f.BoolVar(&e.explain, "explain", false, "print the conditions that decided")
			f.BoolVar(&e.normalized, "normalized", false, "with --json: each distinct field of a collection once")
			f.BoolVar(&e.readOnly, "read-only", false, "only what is displayed, filtered by layers; normalized with --json")
			f.BoolVar(&e.asJSON, "json", false, "print the data of the reply as JSON and nothing else")
		},
		Examples: []string{
			"sluice policy evaluate sampledata/policies/company.yaml --entity sampledata/policies/acme.yaml",
			"sluice policy evaluate company.yaml --entity acme.json --category Risk --layers Global:Compliance --explain",
			"sluice policy evaluate company.yaml --request request.json --normalized --json",
		},
		Run: func(ctx context.Context, args []string, stdout io.Writer) error {
			return e.run(ctx, args[0], stdout)
		},
	}
}

// evaluation is one run of the command that evaluates a policy.
type evaluation struct {
	// entity and request are files, of which one is given.
	entity, request                   string
	categories, jurisdictions         []string
	target, layers                    string
	filterLayers, skipValues, explain bool
	normalized, readOnly, asJSON      bool
}

func (e *evaluation) run(ctx context.Context, path string, stdout io.Writer) error {
	if err := e.check(path); err != nil {
		return err
	}
	file, program, err := compilePolicyFile(path)
	if err != nil {
		return explainFile(err)
	}
	in, err := e.readInput()
	if err != nil {
		return explainFile(err)
	}
	r, err := in.request(file.Contents.Jurisdictions)
	if err != nil {
		return err
	}
	r.Explain, r.Now = e.explain, time.Now()
	if r.Layers, err = parseLayers(e.layers); err != nil {
		return err
	}
	if e.readOnly {
		r = r.ForReadOnly()
	}
	result, err := program.Evaluate(ctx, r, nil)
	if err != nil {
		return err
	}
	if e.asJSON {
		err = e.printJSON(stdout, result)
	} else {
		p := resultPrinter{ui: newConsole(stdout), properties: r.Properties, isReadOnly: e.readOnly}
		p.print(result)
	}
	if err == nil && countErrors(result) > 0 {
		return exitRejected
	}
	return err
}

// check reports flags that exclude each other.
func (e *evaluation) check(path string) error {
	switch {
	case (e.entity == "") == (e.request == ""):
		return cli.Usagef("give one of --entity and --request")
	case e.request != "" && (e.categories != nil || e.jurisdictions != nil || e.target != "" || e.filterLayers || e.skipValues):
		return cli.Usagef("a --request says itself what is evaluated: leave the flags out that do")
	case e.normalized && !e.asJSON:
		return cli.Usagef("--normalized is a form of the JSON: add --json")
	}
	return requireOneStdin(path, e.entity, e.request)
}

// parseLayers reads access layers as --layers has them.
func parseLayers(text string) (access.Layers, error) {
	if text == "" {
		return access.Layers{}.OrDefault(), nil
	}
	geographic, business, found := strings.Cut(text, ":")
	if !found {
		return access.Layers{}, cli.Usagef("--layers is GEOGRAPHIC:BUSINESS, such as Global:Enterprise,Compliance, not %q", text)
	}
	split := func(list string) []string {
		return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	}
	return access.Layers{Geographic: split(geographic), BusinessRelated: split(business)}.OrDefault(), nil
}

// evaluationInput is the data of a request as the interface has it (docs/contract/policy.md).
type evaluationInput struct {
	JourneyID                            *string                   `json:"journeyId,omitzero"`
	TargetEntity                         string                    `json:"targetEntity,omitempty"`
	EvaluateJurisdictions                bool                      `json:"evaluateJurisdictions"`
	Jurisdictions                        []string                  `json:"jurisdictions,omitempty"`
	Categories                           []string                  `json:"categories,omitempty"`
	Properties                           property.Split            `json:"properties"`
	DataSources                          map[string]jsontext.Value `json:"dataSources,omitempty"`
	JourneyLevelDataOnly                 bool                      `json:"journeyLevelDataOnly,omitzero"`
	SkipValuesEvaluation                 bool                      `json:"skipValuesEvaluation,omitzero"`
	ReturnValidationErrors               bool                      `json:"returnValidationErrors,omitzero"`
	DisableFilteringForConditionalValues bool                      `json:"disableFilteringForConditionalValues,omitzero"`
	EnableAccessLayersFiltering          bool                      `json:"enableAccessLayersFiltering,omitzero"`
}

// readInput reads what is evaluated from the file of the request or of the entity.
func (e *evaluation) readInput() (evaluationInput, error) {
	if e.request != "" {
		return readEvaluationRequest(e.request)
	}
	text, err := readFile(e.entity)
	if err != nil {
		return evaluationInput{}, err
	}
	entity, err := policyfile.ParseEntity(e.entity, text)
	if err != nil {
		return evaluationInput{}, err
	}
	in := evaluationInput{
		TargetEntity: entity.TargetEntity, EvaluateJurisdictions: e.jurisdictions == nil, Jurisdictions: e.jurisdictions,
		Categories: e.categories, Properties: entity.Properties, DataSources: entity.DataSources,
		SkipValuesEvaluation: e.skipValues, ReturnValidationErrors: true, EnableAccessLayersFiltering: e.filterLayers,
	}
	if e.target != "" {
		in.TargetEntity = e.target
	}
	if entity.JourneyID != "" {
		in.JourneyID = &entity.JourneyID
	}
	return in, nil
}

// readEvaluationRequest reads the data of a request, with the envelope around them or without.
func readEvaluationRequest(path string) (evaluationInput, error) {
	text, err := readFile(path)
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

// request returns what is evaluated. Jurisdictions are named by their names or IDs.
func (in evaluationInput) request(all []policy.Jurisdiction) (evaluate.Request, error) {
	if in.TargetEntity != "" && !slices.Contains(policy.TargetEntities, in.TargetEntity) {
		return evaluate.Request{}, fmt.Errorf("the target %q is not one of %s", in.TargetEntity,
			strings.Join(policy.TargetEntities, ", "))
	}
	r := evaluate.Request{
		TargetEntity: in.TargetEntity, EvaluateJurisdictions: in.EvaluateJurisdictions, Categories: in.Categories,
		Properties: in.Properties, DataSources: in.DataSources, JourneyLevelDataOnly: in.JourneyLevelDataOnly,
		SkipValuesEvaluation: in.SkipValuesEvaluation, ReturnValidationErrors: in.ReturnValidationErrors,
		DisableFilteringForConditionalValues: in.DisableFilteringForConditionalValues,
		EnableAccessLayersFiltering:          in.EnableAccessLayersFiltering,
	}
	if in.JourneyID != nil {
		r.JourneyID = *in.JourneyID
	}
	for _, name := range in.Jurisdictions {
		at := slices.IndexFunc(all, func(j policy.Jurisdiction) bool { return j.Name == name || j.ID == name })
		if at < 0 {
			return evaluate.Request{}, fmt.Errorf("the policy has no jurisdiction %q", name)
		}
		r.Jurisdictions = append(r.Jurisdictions, all[at].ID)
	}
	return r, nil
}

// maxResultBytes bounds the distinct fields of a normalized result; a file of policies is never as large.
const maxResultBytes = 1 << 30

// printJSON prints the result in the form that the flags ask for.
func (e *evaluation) printJSON(stdout io.Writer, result evaluate.Result) error {
	switch {
	case e.readOnly:
		out, err := evaluate.ReadOnly(result, maxResultBytes)
		return errors.Join(err, printJSON(stdout, out))
	case e.normalized:
		out, err := evaluate.Normalize(result, maxResultBytes)
		return errors.Join(err, printJSON(stdout, out))
	}
	return printJSON(stdout, result)
}
