package repotest

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"

	"go.yaml.in/yaml/v3"
)

// What AWS allows a stack, and how much of it the template may use. The rest is for those who add to it.
const (
	// maxResources is the largest number of resources in a stack.
	maxResources = 500
	// maxInvokePolicy is the size of a function's resource policy, which says who may invoke it, in bytes.
	maxInvokePolicy = 20_480
	// maxRolePolicy is the size of all inline policies of a role, in characters without white space.
	maxRolePolicy = 10_240
	// usablePercent is the share of each of these limits that the template may use.
	usablePercent = 70
	// maxAPIResources is the largest number of resources of an API: its root, and each path and beginning of a path
	// that its routes have. AWS raises this quota on request, but for one API, which must exist: a first deployment has
	// no more.
	maxAPIResources = 300
	// usableAPIResources is how many of these the routes may use. A greedy path for an area of one function frees those
	// of the paths below it.
	usableAPIResources = 200
)

// budget is what the template asks for once SAM has transformed it.
type budget struct {
	resources int
	// invokeBytes and roleBytes hold the sizes of the two policies of each function.
	invokeBytes, roleBytes map[string]int
}

// longName is as long as the longest name of a function: the longest prefix and what follows it.
var longName = strings.Repeat("x", 21+len("-externalauth"))

// permissionBytes is the size of one statement of a resource policy, with the longest names.
func permissionBytes(sid string) int {
	arn := func(service, resource string) string {
		return "arn:aws-us-gov:" + service + ":us-gov-west-1:123456789012:" + resource
	}
	text, _ := json.Marshal(map[string]any{
		"Sid": "stack-name-of-some-length-" + sid + "-0123456789AB", "Effect": "Allow",
		"Principal": map[string]string{"Service": "apigateway.amazonaws.com"}, "Action": "lambda:InvokeFunction",
		"Resource": arn("lambda", "function:"+longName),
		"Condition": map[string]any{"ArnLike": map[string]string{"AWS:SourceArn": arn("execute-api",
			"0123456789/*/POST/"+longName+longName)}},
	})
	return len(text) + 1
}

// countBudget adds up the resources that SAM makes: for each function a role, the configuration of its asynchronous
// invocations, a version and its alias, and a permission for each event; for the API a deployment, a stage and the
// authorizer's permission. On AWS's own transform of this template the sum is the same.
func countBudget(t *testing.T, m template) budget {
	t.Helper()
	b := budget{invokeBytes: map[string]int{}, roleBytes: map[string]int{}}
	for id, node := range m.Resources {
		var r struct {
			Type       string `yaml:"Type"`
			Properties struct {
				FunctionName      yaml.Node            `yaml:"FunctionName"`
				Events            map[string]yaml.Node `yaml:"Events"`
				EventInvokeConfig yaml.Node            `yaml:"EventInvokeConfig"`
				Policies          yaml.Node            `yaml:"Policies"`
				Role              yaml.Node            `yaml:"Role"`
				AutoPublishAlias  yaml.Node            `yaml:"AutoPublishAlias"`
			} `yaml:"Properties"`
		}
		if err := node.Decode(&r); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		b.resources++
		switch r.Type {
		case "AWS::Serverless::Function":
			b.resources += 1 + len(r.Properties.Events)
			for event := range r.Properties.Events {
				b.invokeBytes[id] += permissionBytes(id + event + "Permission")
			}
			if !r.Properties.EventInvokeConfig.IsZero() {
				b.resources++
			}
			if !r.Properties.AutoPublishAlias.IsZero() {
				b.resources += 2
			}
			b.roleBytes[id] = policyChars(&r.Properties.Policies)
		case "AWS::Serverless::StateMachine":
			if r.Properties.Role.IsZero() {
				b.resources++
			}
		case "AWS::Serverless::Api":
			b.resources += 3
		case "AWS::Lambda::Permission":
			b.invokeBytes[r.Properties.FunctionName.Value] += permissionBytes(id)
		}
	}
	return b
}

// countAPIResources returns how many resources API Gateway makes of routes.
func countAPIResources(routes []route) int {
	resources := map[string]bool{"/": true}
	for _, r := range routes {
		for p := r.path; p != "/"; p = path.Dir(p) {
			resources[p] = true
		}
	}
	return len(resources)
}

// policyChars returns the size of policies once their references are resolved, without white space.
func policyChars(n *yaml.Node) int {
	total := 0
	switch n.Kind {
	case yaml.ScalarNode:
		total = len(n.Value) + 3 // quotation marks and a comma
		if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
			total = len("arn:aws-us-gov:dynamodb:us-gov-west-1:123456789012:table/") + len(longName) + len(n.Value)
		}
	default:
		total = 2
	}
	for _, child := range n.Content {
		total += policyChars(child)
	}
	return total
}

// The stack stays clear of what AWS allows, so that areas can be added.
func TestTheTemplateFitsAWS(t *testing.T) {
	m := loadTemplate(t)
	b := countBudget(t, m)
	within := func(what string, n, limit int) {
		t.Helper()
		if n > limit*usablePercent/100 {
			t.Errorf("%s: %d, want at most %d %% of %d", what, n, usablePercent, limit)
		}
	}
	within("resources", b.resources, maxResources)
	apiResources := countAPIResources(m.routes(t))
	if apiResources > usableAPIResources {
		t.Errorf("resources of the API: %d, want at most %d of %d: give an area a greedy path", apiResources,
			usableAPIResources, maxAPIResources)
	}
	largest := map[string]int{}
	for what, sizes := range map[string]map[string]int{"resource policy": b.invokeBytes,
		"role's policies": b.roleBytes} {
		for id, n := range sizes {
			limit := map[string]int{"resource policy": maxInvokePolicy, "role's policies": maxRolePolicy}[what]
			within(fmt.Sprintf("the %s of %s", what, id), n, limit)
			largest[what] = max(largest[what], n)
		}
	}
	t.Logf("%d resources of %d; %d resources of the API, so that there is room for %d more; largest resource policy "+
		"%d of %d bytes; largest policies of a role %d of %d characters", b.resources, maxResources, apiResources,
		usableAPIResources-apiResources, largest["resource policy"], maxInvokePolicy, largest["role's policies"],
		maxRolePolicy)
}

// A function that serves routes has one permission for all of them. An event of the type Api would add one for each,
// and no route: those are in the DefinitionBody.
func TestOnePermissionForAllRoutesOfAFunction(t *testing.T) {
	m := loadTemplate(t)
	permissions := map[string]int{}
	for id, p := range propertiesOf[struct {
		FunctionName string `yaml:"FunctionName"`
		Principal    string `yaml:"Principal"`
		SourceArn    string `yaml:"SourceArn"`
	}](t, m, "AWS::Lambda::Permission") {
		if p.Principal != "apigateway.amazonaws.com" {
			continue
		}
		permissions[p.FunctionName]++
		const want = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*/*/*"
		difftest.Equal(t, id+" has the SourceArn", want, p.SourceArn)
	}
	want := map[string]int{}
	for _, r := range m.routes(t) {
		want[r.function] = 1
	}
	difftest.Equal(t, "permissions of API Gateway for the functions that serve routes", want, permissions)
	for name, f := range m.functions(t) {
		for event, e := range f.Events {
			if e.Type == "Api" {
				t.Errorf("%s has an event %s of the type Api: write the route into the DefinitionBody of Api", name,
					event)
			}
		}
	}
}
