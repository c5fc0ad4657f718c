// Package evaluate evaluates a version of a policy for an entity: which fields it has, which values they get, and what
// is wrong with the values that are there. The package knows neither HTTP nor AWS.
//
// # Two steps
//
// Compile turns the contents of a version into a Program, once. A Program is immutable; any number of requests are
// evaluated with it at the same time. Everything that does not depend on the request is decided by Compile: which data
// groups a field has (compile.go), the lookups and comparisons of its conditions (condition.go, operand.go,
// operation.go), the checks of its rules (rules.go, ruletable.go, rulechecks.go), and the order of calculation of
// formulas (fieldvalues.go). A version that is too large or that makes no sense is refused with Problems.
//
// Program.Evaluate makes an evaluation, the state of one request, and goes through the fields in the order of the
// result (evaluate.go). It finds the fields that are shown (show.go), sets their values (fieldvalues.go), resolves
// their rules (resolve.go), validates their values (validate.go) and puts the parts together (evaluatefield.go,
// collection.go). Normalize and ReadOnly turn a Result into its two other forms.
//
// # How values are looked up
//
// A compiled operand does not search for its value each time. It has a ref, a slot in a frame (frame.go). Frame 0 is
// the request; each collection, and each operand with any, all or none, has a frame of its own whose root is the item
// that is looked at. Reading a ref for the first time walks through nodes (node.go), the properties of the entity or
// parts of a data source, and leaves a reading in the slot; setRoot makes the readings of a frame invalid. The results
// of conditions that do not depend on an item are remembered as memos.
//
// # What callers may not see
//
// A data key whose layers the caller lacks is hidden (masking.go): a condition that would read it is not met, and a
// formula that needs it has no result. Nothing in a reply depends on a hidden value.
package evaluate

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// evaluation is the state of one evaluation.
type evaluation struct {
	ctx     context.Context
	program *Program
	request *Request
	effort

	// frames and memos are the state of the program's frames and memos.
	frames []frame
	memos  []memo
	// sources are the data sources that have been parsed, by their names. Nil is one that is not there or not JSON.
	sources map[string]*sourceValue
	// jurisdictions is the set of the IDs of the jurisdictions of the evaluation, in lower case. Nil means any.
	jurisdictions map[string]bool
	// categories is the set of those that are asked for. Nil means any.
	categories map[string]bool
	// target is the role of the entity in the journey, as a set. Nil means any.
	target map[string]bool
	// shownAt is scratch memory of appendShown.
	shownAt []int
	// absent is the reading of values that must not be seen. It is always empty.
	absent reading
	// takingPart remembers, for each data key, whether one of its fields takes part.
	takingPart []memo
	// calculations are the results of formulas, by the slots of the calculated fields.
	calculations []calculation
	// resolved and merged remember the rules that have been worked out, so that the items of a collection share them.
	resolved map[ruleChoice]*resolvedRules
	merged   map[[2]*resolvedRules]*resolvedRules

	// reachesLayers says, for each of the access layers of the program, whether the caller reaches them.
	reachesLayers []bool
	// hidden says, for each data key, whether its values are hidden from the caller. hiddenNames are their names.
	hidden      []bool
	hiddenNames map[string]bool
	// hiddenInItem and hiddenItemNames are the same for the item that the request gives.
	hiddenInItem    []bool
	hiddenItemNames map[string]bool
}

// Evaluate evaluates the program for a request, in the order that docs/contract/policy.md gives. It calls the reader at
// most once, and only if the program reads the materiality and the request does not give it; a nil reader means that
// nothing has been assessed. It returns errors of the reader and of the context, and ErrTooMuchWork. No request is
// invalid: where a data source has another form than an operand expects, the operand finds no value.
func (p *Program) Evaluate(ctx context.Context, r Request, materiality MaterialityReader) (Result, error) {
	return newEvaluation(ctx, p, &r).run(materiality)
}

// run evaluates the program.
func (e *evaluation) run(materiality MaterialityReader) (Result, error) {
	if err := e.readMateriality(materiality); err != nil {
		return Result{}, err
	}
	result := Result{
		EvaluatedFields:               []EvaluatedField{},
		EvaluatedCollectionDataGroups: []CollectionDataGroup{},
		EvaluatedCustomDataGroups:     []CustomDataGroup{},
		EvaluatedJurisdictions:        e.evaluateJurisdictions(),
	}
	all := e.findShown(e.program.fields)
	e.calculate(e.program.calculated, all)
	for _, s := range all {
		if err := e.interrupted(); err != nil {
			return Result{}, err
		}
		switch {
		case s.group == nil || s.shouldClear:
			result.EvaluatedFields = append(result.EvaluatedFields, e.evaluateSingle(&s))
		case s.group.isCollection:
			g, err := e.evaluateCollection(&s)
			if err != nil {
				return Result{}, err
			}
			result.EvaluatedCollectionDataGroups = append(result.EvaluatedCollectionDataGroups, g)
		default:
			result.EvaluatedCustomDataGroups = append(result.EvaluatedCustomDataGroups, e.evaluateCustom(&s))
		}
	}
	return result, e.interrupted()
}

// newEvaluation returns an evaluation that can ask conditions.
func newEvaluation(ctx context.Context, p *Program, r *Request) *evaluation {
	e := &evaluation{
		ctx: ctx, program: p, request: r, effort: effort{limit: maxWork, nextCheck: workPerCheck},
		frames: make([]frame, len(p.frames)), memos: make([]memo, p.memos),
		sources: map[string]*sourceValue{}, categories: setOf(r.Categories),
	}
	if r.TargetEntity != "" {
		e.target = map[string]bool{r.TargetEntity: true}
	}
	e.setRoot(0, node{})
	e.hideKeys()
	return e
}

// setOf returns texts as a set, nil if there are none.
func setOf(texts []string) map[string]bool {
	if len(texts) == 0 {
		return nil
	}
	set := make(map[string]bool, len(texts))
	for _, t := range texts {
		set[t] = true
	}
	return set
}

// lowercaseAll returns texts in lower case.
func lowercaseAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = strings.ToLower(t)
	}
	return out
}

// readMateriality reads the data source screeningMateriality from the screening area if it is needed and absent.
func (e *evaluation) readMateriality(reader MaterialityReader) error {
	_, isGiven := e.request.DataSources[sourceMateriality]
	if isGiven || !e.program.readsMateriality || reader == nil || e.request.JourneyID == "" {
		return nil
	}
	entity := e.source(sourceMetadata)
	entityID := ""
	if entity.value != nil {
		entityID = entity.value.member("entityId").scalar()
	}
	m, err := reader.ReadMateriality(e.ctx, e.request.JourneyID, entityID, e.request.Layers)
	if err != nil {
		return fmt.Errorf("evaluate: read the materiality of journey %s: %w", e.request.JourneyID, err)
	}
	if m == nil {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("evaluate: marshal the materiality: %w", err)
	}
	e.sources[sourceMateriality] = parseValue(jsontext.Value(text))
	return nil
}

// evaluateJurisdictions returns the jurisdictions of the evaluation, and remembers them.
func (e *evaluation) evaluateJurisdictions() []EvaluatedJurisdiction {
	out := []EvaluatedJurisdiction{}
	asked := setOf(lowercaseAll(e.request.Jurisdictions))
	if asked == nil && !e.request.EvaluateJurisdictions {
		return out
	}
	e.jurisdictions = map[string]bool{}
	for i := range e.program.jurisdictions {
		j := &e.program.jurisdictions[i]
		id := strings.ToLower(j.ID)
		isIn := asked[id]
		if e.request.EvaluateJurisdictions {
			isIn, _ = j.shown.decide(e)
		}
		if isIn {
			e.jurisdictions[id] = true
			out = append(out, j.EvaluatedJurisdiction)
		}
	}
	return out
}
