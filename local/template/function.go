package template

import (
	"fmt"
	"slices"
	"strings"
)

// addFunction adds a function with the routes and notifications of its events.
func (b *builder) addFunction(id string, p *properties) error {
	name, err := b.physicalName(id)
	if err != nil {
		return err
	}
	if runtime := p.text("Runtime"); runtime != "provided.al2023" {
		return fmt.Errorf("has the Runtime %q: the local cloud supports only provided.al2023", runtime)
	}
	f := Function{
		ID: id, Name: name, Binary: binaryName(id),
		ARN:         b.target.ARN("lambda", "function:"+name),
		Timeout:     p.number("Timeout", 3),
		MemoryMB:    p.number("MemorySize", 128),
		Concurrency: p.number("ReservedConcurrentExecutions", 0),
		Environment: map[string]string{},
		Policies:    p.list("Policies"),
	}
	async := p.object("EventInvokeConfig")
	f.Retries = async.number("MaximumRetryAttempts", 2)
	f.DeadLetters = async.object("DestinationConfig").object("OnFailure").text("Destination")
	variables := p.object("Environment").object("Variables")
	for key := range variables.values {
		f.Environment[key] = variables.text(key)
	}
	if p.err != nil {
		return p.err
	}
	if f.Timeout < 1 || f.Timeout > 900 {
		return fmt.Errorf("has a Timeout of %d: 1 to 900 seconds are allowed", f.Timeout)
	}
	b.out.Functions = append(b.out.Functions, f)
	events := p.object("Events")
	for _, event := range sortedKeys(events.values) {
		e := events.object(event)
		if err := b.addEvent(id, e.text("Type"), e.object("Properties")); err != nil {
			return fmt.Errorf("has an event %s that %w", event, err)
		}
	}
	return nil
}

// addEvent adds an event of a function.
func (b *builder) addEvent(function, kind string, p *properties) error {
	switch kind {
	case "Api":
		return b.addRoute(function, p)
	case "S3":
		return b.addNotification(function, p)
	}
	b.out.Unserved = append(b.out.Unserved, fmt.Sprintf("%s event of %s", kind, function))
	return nil
}

// addNotification adds an event of a bucket.
func (b *builder) addNotification(function string, p *properties) error {
	n := Notification{Events: p.textList("Events"), Function: function}
	for _, v := range p.object("Filter").object("S3Key").list("Rules") {
		rule := newProperties(v)
		switch strings.ToLower(rule.text("Name")) {
		case "prefix":
			n.Prefix = rule.text("Value")
		case "suffix":
			n.Suffix = rule.text("Value")
		default:
			return fmt.Errorf("has a filter rule other than prefix and suffix")
		}
	}
	name := p.requiredText("Bucket")
	i := slices.IndexFunc(b.out.Buckets, func(b Bucket) bool { return b.Name == name })
	if p.err == nil && i < 0 {
		return fmt.Errorf("names a bucket that the template does not define")
	}
	if p.err == nil {
		b.out.Buckets[i].Notifications = append(b.out.Buckets[i].Notifications, n)
	}
	return p.err
}

// addAPI adds the API and its gateway responses.
func (b *builder) addAPI(id string, p *properties) error {
	if b.out.API.ID != "" {
		return fmt.Errorf("is a second API: the local cloud supports one")
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
			if !isHeaderMapping(value) {
				return fmt.Errorf("has a gateway response %s whose header %s is neither a string in single quotes "+
					"nor context.requestId nor a header of the request", kind, name)
			}
			response.Headers[name] = value
		}
		api.Responses[kind] = response
	}
	b.out.API = api
	return p.err
}

// isHeaderMapping reports whether the local gateway knows the value of a gateway response's header.
func isHeaderMapping(value string) bool {
	isLiteral := len(value) >= 2 && strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'")
	return isLiteral || value == MappedRequestID || strings.HasPrefix(value, MappedRequestHeader)
}

// methods are the methods that a route can have.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "ANY"}

// addRoute adds a route that leads to a function.
func (b *builder) addRoute(function string, p *properties) error {
	if b.out.API.ID == "" {
		return fmt.Errorf("needs an AWS::Serverless::Api, which the template does not define")
	}
	r := Route{Method: strings.ToUpper(p.requiredText("Method")), Path: p.requiredText("Path"), Function: function}
	if p.err != nil {
		return p.err
	}
	if !slices.Contains(methods, r.Method) {
		return fmt.Errorf("has the unknown method %s", r.Method)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return fmt.Errorf("has a path that does not begin with /")
	}
	for _, other := range b.out.API.Routes {
		if other.Method == r.Method && other.Path == r.Path {
			return fmt.Errorf("has the same route as %s", other.Function)
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

// authorizerFunction returns the logical ID of the function of an authorizer of the API, and "" if the routes are open.
// The name "" means the default authorizer.
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
		return "", fmt.Errorf("has an authorizer of type %q: the local cloud supports only REQUEST", kind)
	}
	if a.object("Identity").number("ReauthorizeEvery", 300) != 0 {
		return "", fmt.Errorf(
			"has an authorizer whose results are cached, which is not supported: set ReauthorizeEvery to 0",
		)
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
	return "", fmt.Errorf("has an authorizer whose FunctionArn is not that of a function of the template")
}
