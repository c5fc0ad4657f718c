package template

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/local/iam"
)

// addAPI adds the API with its routes and its gateway responses.
func (b *builder) addAPI(id string, p *properties) error {
	if b.out.API.ID != "" {
		return fmt.Errorf("is a second API: the local cloud supports one")
	}
	api := API{ID: id, Stage: p.requiredText("StageName"), BinaryMediaTypes: p.textList("BinaryMediaTypes"),
		Responses: map[string]GatewayResponse{}}
	for i, t := range api.BinaryMediaTypes {
		api.BinaryMediaTypes[i] = strings.ReplaceAll(t, "~1", "/")
	}
	if err := api.addResponses(p.object("GatewayResponses")); err != nil {
		return err
	}
	if err := api.addThrottling(p.list("MethodSettings")); err != nil {
		return err
	}
	b.out.API = api
	paths := p.object("DefinitionBody").object("paths")
	if err := checkPaths(sortedKeys(paths.values)); err != nil {
		return err
	}
	for _, path := range sortedKeys(paths.values) {
		operations := paths.object(path)
		for _, method := range sortedKeys(operations.values) {
			if err := b.addRoute(path, method, operations.object(method)); err != nil {
				return fmt.Errorf("has a route %s %s that %w", strings.ToUpper(method), path, err)
			}
		}
	}
	return p.err
}

// maxResources is the number of resources that an API can have unless AWS raises the quota.
const maxResources = 300

// pathPart matches the segments of paths that API Gateway allows.
var pathPart = regexp.MustCompile(`^([A-Za-z0-9._:-]+|\{[A-Za-z0-9._-]+\+?\})$`)

// checkPaths returns an error if API Gateway cannot make its tree of resources from the paths. It makes one resource
// for each path and for each beginning of one, such as / and /a for /a/b. At most one resource under another can be a
// parameter.
func checkPaths(paths []string) error {
	resources, parameters := map[string]bool{"/": true}, map[string]string{}
	for _, path := range paths {
		parent, parts := "", strings.Split(strings.TrimPrefix(path, "/"), "/")
		for i, part := range parts {
			if path == "/" {
				break
			}
			isParameter := strings.HasPrefix(part, "{")
			switch other := parameters[parent]; {
			case !pathPart.MatchString(part):
				return fmt.Errorf("has the path %s, in which API Gateway does not allow %q", path, part)
			case strings.HasSuffix(part, "+}") && i < len(parts)-1:
				return fmt.Errorf("has the path %s, in which the greedy parameter is not the last segment", path)
			case isParameter && other != "" && other != part:
				return fmt.Errorf("has the parameters %s and %s under %s/: API Gateway allows one", other, part, parent)
			case isParameter:
				parameters[parent] = part
			}
			parent += "/" + part
			resources[parent] = true
		}
	}
	if len(resources) > maxResources {
		return fmt.Errorf("has paths of %d resources: API Gateway allows an API %d", len(resources), maxResources)
	}
	return nil
}

// addThrottling reads the limits of the stage, which hold for each method. Limits of single methods are not supported.
func (a *API) addThrottling(settings []any) error {
	for _, v := range settings {
		p := newProperties(v)
		for name, limit := range map[string]*float64{
			"ThrottlingRateLimit": &a.ThrottlingRate, "ThrottlingBurstLimit": &a.ThrottlingBurst,
		} {
			text := p.text(name)
			if text == "" {
				continue
			}
			if p.text("ResourcePath") != "/*" || p.text("HttpMethod") != "*" {
				return fmt.Errorf("has a %s of a single method: the local cloud supports only /* and *", name)
			}
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || n < 0 {
				return fmt.Errorf("has the %s %q, which is not a number", name, text)
			}
			*limit = n
		}
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

// responseTypes are the types of gateway responses ("Gateway response types" in the Developer Guide of API Gateway).
var responseTypes = []string{
	"ACCESS_DENIED", "API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE",
	"BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS", "DEFAULT_4XX", "DEFAULT_5XX", "EXPIRED_TOKEN", "INTEGRATION_FAILURE",
	"INTEGRATION_TIMEOUT", "INVALID_API_KEY", "INVALID_SIGNATURE", "MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED",
	"REQUEST_TOO_LARGE", "RESOURCE_NOT_FOUND", "THROTTLED", "UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED",
}

// addResponses adds the gateway responses, which are by their types.
func (a *API) addResponses(all *properties) error {
	for kind := range all.values {
		if !slices.Contains(responseTypes, kind) {
			return fmt.Errorf("has a gateway response %s, which is not a type of API Gateway", kind)
		}
		r := all.object(kind)
		response := GatewayResponse{
			Status:  r.number("StatusCode", 0),
			Headers: map[string]string{},
			Body:    r.object("ResponseTemplates").text("application/json"),
		}
		if s := response.Status; s != 0 && (s < 100 || s > 599) {
			return fmt.Errorf("has a gateway response %s with the StatusCode %d", kind, s)
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
		a.Responses[kind] = response
	}
	return all.err
}

// isHeaderMapping reports whether the local gateway knows the value of a gateway response's header.
func isHeaderMapping(value string) bool {
	isLiteral := len(value) >= 2 && strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'")
	return isLiteral || value == MappedRequestID || strings.HasPrefix(value, MappedRequestHeader)
}

// anyMethod is the method of a route that serves all methods.
const anyMethod = "x-amazon-apigateway-any-method"

// methods are the methods that a route can have.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "ANY"}

// addRoute adds an operation of the API's description, which leads to a function.
func (b *builder) addRoute(path, method string, operation *properties) error {
	if method == anyMethod {
		method = "ANY"
	}
	r := Route{Method: strings.ToUpper(method), Path: path}
	if !slices.Contains(methods, r.Method) {
		return fmt.Errorf("has an unknown method")
	}
	if !strings.HasPrefix(r.Path, "/") {
		return fmt.Errorf("has a path that does not begin with /")
	}
	integration := operation.object("x-amazon-apigateway-integration")
	if kind, post := integration.text("type"), integration.text("httpMethod"); kind != "aws_proxy" || post != "POST" {
		return fmt.Errorf("is not an integration of the type aws_proxy by POST")
	}
	uri := integration.text("uri")
	_, arn, _ := strings.Cut(uri, ":lambda:path/2015-03-31/functions/")
	var found bool
	if r.Function, found = b.functionOf(strings.TrimSuffix(arn, "/invocations")); !found ||
		!strings.HasSuffix(uri, "/invocations") {
		return fmt.Errorf("does not lead to a function of the template")
	}
	name := ""
	for _, v := range operation.list("security") {
		for scheme := range newProperties(v).values {
			name = scheme
		}
	}
	var err error
	if r.Authorizer, r.Identity, err = b.authorizer(name); err != nil {
		return err
	}
	b.out.API.Routes = append(b.out.API.Routes, r)
	return operation.err
}

// functionOf returns the logical ID of the function with an ARN.
func (b *builder) functionOf(arn string) (id string, found bool) {
	for _, id := range sortedKeys(b.resources) {
		if b.resources[id].kind != "AWS::Serverless::Function" {
			continue
		}
		if own, err := b.arn(id, "lambda", "function:"); err == nil && own == arn {
			return id, true
		}
	}
	return "", false
}

// gateway is the principal of API Gateway in permissions.
const gateway = "apigateway.amazonaws.com"

// checkRoutePermissions returns an error if API Gateway may not invoke the function of a route.
func (b *builder) checkRoutePermissions() error {
	arns := map[string]string{}
	for _, f := range b.out.Functions {
		arns[f.ID] = f.ARN
	}
	for _, r := range b.out.API.Routes {
		source := b.target.ARN("execute-api", apiID+"/"+b.out.API.Stage+"/"+r.Method+r.Path)
		if !slices.ContainsFunc(b.out.Permissions, func(p Permission) bool {
			return p.Function == arns[r.Function] && p.Service == gateway && iam.MatchARN(p.Source, source)
		}) {
			return fmt.Errorf("%s has a route %s %s to %s, which API Gateway may not invoke: an "+
				"AWS::Lambda::Permission for %s is missing", b.out.API.ID, r.Method, r.Path, r.Function, gateway)
		}
	}
	return nil
}

// authorizer returns the logical ID of the function of an authorizer of the API, and "" if the routes are open, and the
// headers that it needs. The name "" means the default authorizer.
func (b *builder) authorizer(name string) (function string, identity []string, err error) {
	v, err := b.resolve(b.resources[b.out.API.ID].properties["Auth"])
	if err != nil {
		return "", nil, err
	}
	auth := newProperties(v)
	if name == "" {
		name = auth.text("DefaultAuthorizer")
	}
	if name == "" || name == "NONE" {
		return "", nil, nil
	}
	a := auth.object("Authorizers").object(name)
	if a.values == nil {
		return "", nil, fmt.Errorf("names the authorizer %s, which the API does not define", name)
	}
	if kind := a.text("FunctionPayloadType"); kind != "REQUEST" {
		return "", nil, fmt.Errorf("has an authorizer of type %q: the local cloud supports only REQUEST", kind)
	}
	if a.object("Identity").number("ReauthorizeEvery", 300) != 0 {
		return "", nil, fmt.Errorf(
			"has an authorizer whose results are cached, which is not supported: set ReauthorizeEvery to 0",
		)
	}
	if id, found := b.functionOf(a.text("FunctionArn")); found {
		return id, a.object("Identity").textList("Headers"), nil
	}
	return "", nil, fmt.Errorf("has an authorizer whose FunctionArn is not that of a function of the template")
}
