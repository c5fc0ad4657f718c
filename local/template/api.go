package template

import (
	"fmt"
	"slices"
	"strings"
)

func (b *builder) addAPI(id string, p *properties) error {
	if b.out.API.ID != "" {
		return fmt.Errorf("is a second API: the local cloud runs one")
	}
	api := API{ID: id, Stage: p.requiredText("StageName"), BinaryMediaTypes: p.textList("BinaryMediaTypes"),
		Responses: map[string]GatewayResponse{}}
	for i, t := range api.BinaryMediaTypes {
		api.BinaryMediaTypes[i] = strings.ReplaceAll(t, "~1", "/")
	}
	responses := p.object("GatewayResponses")
	for kind := range responses.values {
		r := responses.object(kind)
		response := GatewayResponse{
			Status:  r.number("StatusCode", 0),
			Headers: map[string]string{},
			Body:    r.object("ResponseTemplates").text("application/json"),
		}
		headers := r.object("ResponseParameters").object("Headers")
		for name := range headers.values {
			value := headers.text(name)
			literal := strings.TrimSuffix(strings.TrimPrefix(value, "'"), "'")
			if len(literal) != len(value)-2 {
				return fmt.Errorf("has a gateway response %s whose header %s is no text in single quotes", kind, name)
			}
			response.Headers[name] = literal
		}
		api.Responses[kind] = response
	}
	b.out.API = api
	return p.err
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "ANY"}

func (b *builder) addRoute(function string, p *properties) error {
	if b.out.API.ID == "" {
		return fmt.Errorf("needs an AWS::Serverless::Api, which the template does not define")
	}
	r := Route{Method: strings.ToUpper(p.requiredText("Method")), Path: p.requiredText("Path"), Function: function}
	if p.err != nil {
		return p.err
	}
	if !slices.Contains(methods, r.Method) {
		return fmt.Errorf("has the method %s", r.Method)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return fmt.Errorf("has a path that does not begin with /")
	}
	for _, other := range b.out.API.Routes {
		if other.Method == r.Method && other.Path == r.Path {
			return fmt.Errorf("has the route of %s", other.Function)
		}
	}
	authorizer, err := b.authorizerFunction(p.object("Auth").text("Authorizer"))
	if err != nil {
		return err
	}
	r.Authorizer = authorizer
	b.out.API.Routes = append(b.out.API.Routes, r)
	return nil
}

// authorizerFunction returns the logical id of the function behind an authorizer of the API; "" stands for the default
// one.
func (b *builder) authorizerFunction(name string) (string, error) {
	v, err := b.resolve(b.resources[b.out.API.ID].properties["Auth"])
	if err != nil {
		return "", err
	}
	auth := newProperties(v)
	if name == "" {
		name = auth.text("DefaultAuthorizer")
	}
	if name == "" || name == "NONE" {
		return "", nil
	}
	a := auth.object("Authorizers").object(name)
	if a.values == nil {
		return "", fmt.Errorf("names the authorizer %s, which the API does not define", name)
	}
	if kind := a.text("FunctionPayloadType"); kind != "REQUEST" {
		return "", fmt.Errorf("has an authorizer of type %q: the local cloud knows only REQUEST", kind)
	}
	if a.object("Identity").number("ReauthorizeEvery", 300) != 0 {
		return "", fmt.Errorf("has an authorizer whose answers are cached: the local cloud caches none, so ReauthorizeEvery must be 0")
	}
	arn := a.text("FunctionArn")
	for _, id := range sortedKeys(b.resources) {
		if b.resources[id].kind != "AWS::Serverless::Function" {
			continue
		}
		if own, err := b.arn(id, "lambda", "function:"); err == nil && own == arn {
			return id, nil
		}
	}
	return "", fmt.Errorf("has an authorizer whose FunctionArn is no function of the template")
}
