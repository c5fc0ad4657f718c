package policyhttp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/materiality"
)

// Evaluations answers the routes that evaluate versions of policies. It writes nothing.
type Evaluations struct {
	Programs programs
	// Screenings and Entities are read for policies that need the materiality of an entity.
	Screenings materiality.Screenings
	Entities   materiality.Entities
	Now        func() time.Time
}

// programs compiles versions of policies, and keeps them.
type programs interface {
	// Load returns the compiled version. It returns policy.ErrNotFound if there is none, and evaluate.Problems for a
	// draft that cannot be compiled.
	Load(ctx context.Context, tenant, policyID string, number int64) (*evaluate.Program, error)
}

// Routes returns the routes of evaluations.
func (s *Evaluations) Routes() []httpapi.Route {
	const path = queriesPath + ofVersion + "/fields/evaluate"
	routes := []httpapi.Route{
		query(http.MethodPost, path, platform.Endpoint(s.evaluatePlain, platform.ReadOnly())),
		query(http.MethodPost, path+"/normalized", platform.Endpoint(s.evaluateNormalized, platform.ReadOnly())),
		query(http.MethodPost, path+"/read-only/normalized",
			platform.Endpoint(s.evaluateReadOnly, platform.ReadOnly())),
	}
	for i := range routes {
		routes[i].MaxBody = maxEvaluationBody
	}
	return httpapi.WithLimit(ratelimit.Platform, routes...)
}

var (
	errPlainTooLarge = fault.New(fault.TooLarge, "plain_evaluation_too_large",
		"The reply would have more than 6 MB. Ask for the normalized variant, POST .../fields/evaluate/normalized: "+
			"it has each distinct field of a collection once.")
	errEvaluationTooLarge = fault.New(fault.TooLarge, "evaluation_too_large",
		"The reply would have more than 6 MB, although it is normalized. Ask for fewer categories, or send the items "+
			"of collections in parts.")
	errEvaluationTooMuchWork = fault.New(fault.TooLarge, "evaluation_too_much_work",
		"The policy has too many conditions for the items and values of the request: the evaluation would take "+
			"several seconds. Send the items of collections and data sources in parts.")
)

// evaluatePlain returns the fields of an entity with every field of every item.
func (s *Evaluations) evaluatePlain(ctx context.Context, r *platform.Request, in EvaluationRequest) (
	platform.EncodedData, error) {
	result, err := s.evaluate(ctx, r, in.request(r))
	if err != nil {
		return nil, err
	}
	return encodePlain(result, httpapi.FullBudget)
}

// evaluateNormalized returns the same with each distinct field of a collection once.
func (s *Evaluations) evaluateNormalized(ctx context.Context, r *platform.Request, in EvaluationRequest) (
	platform.EncodedData, error) {
	result, err := s.evaluate(ctx, r, in.request(r))
	if err != nil {
		return nil, err
	}
	normalized, err := evaluate.Normalize(result, int(httpapi.FullBudget))
	return encodeNormalized(normalized, err)
}

// evaluateReadOnly returns the fields of an entity for display, normalized.
func (s *Evaluations) evaluateReadOnly(ctx context.Context, r *platform.Request, in ReadOnlyRequest) (
	platform.EncodedData, error) {
	result, err := s.evaluate(ctx, r, in.request(r).ForReadOnly())
	if err != nil {
		return nil, err
	}
	shown, err := evaluate.ReadOnly(result, int(httpapi.FullBudget))
	return encodeNormalized(shown, err)
}

// evaluate evaluates the version that the path names.
func (s *Evaluations) evaluate(ctx context.Context, r *platform.Request, in evaluate.Request) (evaluate.Result, error) {
	err := r.Validate(func(v *platform.ValidationErrors) {
		v.CheckRepeated("explain")
		in.Explain = v.CheckQueryBool("explain")
	})
	if err != nil {
		return evaluate.Result{}, err
	}
	id, err := policyID(r)
	if err != nil {
		return evaluate.Result{}, err
	}
	number, err := pathNumber(r)
	if err != nil {
		return evaluate.Result{}, err
	}
	program, err := s.Programs.Load(ctx, r.Tenant, id, number)
	if err != nil {
		return evaluate.Result{}, faultOf(err, errNoVersion)
	}
	in.Now = s.Now()
	result, err := program.Evaluate(ctx, in, s.materialityFor(r))
	if errors.Is(err, evaluate.ErrTooMuchWork) {
		return evaluate.Result{}, errEvaluationTooMuchWork
	}
	return result, err
}

// materialityFor returns the reader of the screening for a caller, nil if the caller must not read it.
func (s *Evaluations) materialityFor(r *platform.Request) evaluate.MaterialityReader {
	if !slices.Contains(r.Permissions, permission.ScreeningAccess) {
		return nil
	}
	return materiality.Reader{Screenings: s.Screenings, Entities: s.Entities, Tenant: r.Tenant}
}

// encodeNormalized returns a normalized result as the data of a reply; err is the error of normalizing it.
func encodeNormalized(result any, err error) (platform.EncodedData, error) {
	if errors.Is(err, evaluate.ErrTooLarge) {
		return nil, errEvaluationTooLarge
	}
	if err != nil {
		return nil, err
	}
	e := encoder{left: httpapi.FullBudget, tooLarge: errEvaluationTooLarge}
	e.value(result)
	return e.data()
}
