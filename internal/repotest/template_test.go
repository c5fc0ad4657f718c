package repotest

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"sluice/functions/setup"
	"sluice/shared/access/auth/authhttp"
	"sluice/shared/access/httpapi"
	"sluice/shared/connect/externalauth/externalauthhttp"
	"sluice/shared/connect/outbound/outboundhttp"
	"sluice/shared/connect/webhook/webhookhttp"
	"sluice/shared/ingest/batch/batchhttp"
	"sluice/shared/ingest/find/findhttp"
	"sluice/shared/ingest/transaction/transactionhttp"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document/documenthttp"
	"sluice/shared/platform/entity/entityhttp"
	"sluice/shared/policy/policyhttp"
	"sluice/shared/screening/receptorhttp"
	"sluice/shared/screening/screeninghttp"
)

// template is what these tests read of template.yaml.
type template struct {
	Parameters map[string]struct {
		Default     *string `yaml:"Default"`
		Description string  `yaml:"Description"`
	} `yaml:"Parameters"`
	Globals struct {
		Function struct {
			Environment environment `yaml:"Environment"`
		} `yaml:"Function"`
	} `yaml:"Globals"`
	Conditions map[string]yaml.Node `yaml:"Conditions"`
	Resources  map[string]yaml.Node `yaml:"Resources"`
	// text is the whole file.
	text []byte
	// root is the whole document.
	root *yaml.Node
}

// environment is the variables that functions are given.
type environment struct {
	Variables map[string]yaml.Node `yaml:"Variables"`
}

// function is what these tests read of a function in the template.
type function struct {
	// Program is the name of its folder in functions.
	Program     string      `yaml:"-"`
	Environment environment `yaml:"Environment"`
	// Events holds the type of each event.
	Events map[string]struct {
		Type string `yaml:"Type"`
	} `yaml:"Events"`
	// Routes are the routes that lead to the function, and of each whether it is open to everybody.
	Routes map[string]bool `yaml:"-"`
}

// readTemplate reads template.yaml once for all tests, which change nothing of it.
var readTemplate = sync.OnceValues(func() (template, error) {
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		return template{}, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return template{}, err
	}
	out := template{text: text, root: document.Content[0]}
	return out, out.root.Decode(&out)
})

func loadTemplate(t *testing.T) template {
	t.Helper()
	repositoryFiles(t)
	return errtest.Must(readTemplate())(t)
}

// propertiesOf returns the properties of the resources of one of the types, by their logical IDs.
func propertiesOf[P any](t *testing.T, m template, types ...string) map[string]P {
	t.Helper()
	out := map[string]P{}
	for id, node := range m.Resources {
		var resource struct {
			Type       string    `yaml:"Type"`
			Properties yaml.Node `yaml:"Properties"`
		}
		if err := node.Decode(&resource); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if !slices.Contains(types, resource.Type) {
			continue
		}
		var properties P
		if err := resource.Properties.Decode(&properties); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		out[id] = properties
	}
	return out
}

// functions returns the template's functions by their names on AWS without the prefix.
func (m template) functions(t *testing.T) map[string]function {
	t.Helper()
	out := map[string]function{}
	routes := m.routes(t)
	for id, f := range propertiesOf[function](t, m, "AWS::Serverless::Function") {
		f.Routes = map[string]bool{}
		for _, r := range routes {
			if r.function == id {
				f.Routes[r.method+" "+r.path] = r.isPublic
			}
		}
		name := strings.ToLower(strings.TrimSuffix(id, "Function"))
		f.Program = name
		resource := m.Resources[id]
		if program, ok := at(&resource, "Metadata", "Program"); ok {
			f.Program = program.Value
		}
		out[name] = f
	}
	return out
}

// route is one route of the API. The function is its logical ID.
type route struct {
	method, path, function string
	isPublic               bool
}

var integrationURI = regexp.MustCompile(`^arn:\$\{AWS::Partition\}:apigateway:\$\{` +
	`AWS::Region\}:lambda:path/2015-03-31/functions/\$\{(\w+)\.Arn\}/invocations$`)

// routes returns the routes of the API.
func (m template) routes(t *testing.T) []route {
	t.Helper()
	var api struct {
		Properties struct {
			DefinitionBody struct {
				Paths map[string]map[string]struct {
					Security    []map[string][]string `yaml:"security"`
					Integration struct {
						URI string `yaml:"uri"`
					} `yaml:"x-amazon-apigateway-integration"`
				} `yaml:"paths"`
			} `yaml:"DefinitionBody"`
		} `yaml:"Properties"`
	}
	node := m.Resources["Api"]
	errtest.Fatal(t, node.Decode(&api))
	var out []route
	for path, operations := range api.Properties.DefinitionBody.Paths {
		for method, o := range operations {
			to := integrationURI.FindStringSubmatch(o.Integration.URI)
			if to == nil {
				t.Fatalf("%s %s has the URI %q, want one of the form %s", method, path, o.Integration.URI,
					integrationURI)
			}
			isPublic := len(o.Security) == 1 && o.Security[0]["NONE"] != nil
			out = append(out, route{strings.ToUpper(method), path, to[1], isPublic})
		}
	}
	if len(out) < 50 {
		t.Fatalf("found %d routes, want at least 50", len(out))
	}
	return out
}

func TestEveryFunctionIsDeployed(t *testing.T) {
	mains := errtest.Must(filepath.Glob("functions/*/main.go"))(t)
	var want, got []string
	for _, main := range mains {
		want = append(want, filepath.Base(filepath.Dir(main)))
	}
	for _, f := range loadTemplate(t).functions(t) {
		got = append(got, f.Program)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folders of functions (-), functions of the template (+):\n%s", diff)
	}
}

var (
	setupCall    = regexp.MustCompile(`(?s)setup\.MustLoad\((.*?)\)\n`)
	variableName = regexp.MustCompile(`"([A-Z_]+)"`)
)

// The template gives each function the settings that its main requires, and only settings that setup.Config reads.
func TestSettingsAreGivenAndRead(t *testing.T) {
	settings := map[string]bool{}
	config := reflect.TypeFor[setup.Config]()
	for i := range config.NumField() {
		settings[config.Field(i).Tag.Get("env")] = true
	}
	template := loadTemplate(t)
	for name, f := range template.functions(t) {
		for variable := range f.Environment.Variables {
			if !settings[variable] {
				t.Errorf("%s is given %s, which setup.Config does not read", name, variable)
			}
		}
		call := setupCall.FindSubmatch(readFile(t, "functions/"+f.Program+"/main.go"))
		if call == nil {
			t.Errorf("the main of %s does not call setup.MustLoad", name)
			continue
		}
		for _, required := range variableName.FindAllStringSubmatch(string(call[1]), -1) {
			if _, given := f.Environment.Variables[required[1]]; !given {
				t.Errorf("%s requires %s, which the template does not give it", name, required[1])
			}
		}
	}
	for variable := range template.Globals.Function.Environment.Variables {
		if !settings[variable] {
			t.Errorf("all functions are given %s, which setup.Config does not read", variable)
		}
	}
}

// servedRoutes returns the routes of each function that answers HTTP.
func servedRoutes() map[string][]httpapi.Route {
	return map[string][]httpapi.Route{
		"token":        (&authhttp.Tokens{}).Routes(),
		"batch":        (&batchhttp.Batches{}).Routes(),
		"receipt":      (&batchhttp.Receipts{}).Routes(),
		"transaction":  (&transactionhttp.Transactions{}).Routes(),
		"receive":      (&transactionhttp.Singles{}).Routes(),
		"find":         (&findhttp.Find{}).Routes(),
		"entity":       (&entityhttp.Entities{}).Routes(),
		"document":     (&documenthttp.Documents{}).Routes(),
		"externalauth": (&externalauthhttp.Configurations{}).Routes(),
		"webhook":      (&webhookhttp.Webhooks{}).Routes(),
		"screening":    (&screeninghttp.Screenings{}).Routes(),
		"provider":     (&screeninghttp.Configurations{}).Routes(),
		"matchname":    (&screeninghttp.Names{}).Routes(),
		"testadapter":  (&screeninghttp.AdapterTests{}).Routes(),
		"evaluate":     (&policyhttp.Evaluations{}).Routes(),
		"receptor":     (&receptorhttp.Receptor{}).Routes(),
		"outbound":     (&outboundhttp.Outbound{}).Routes(),
		"policy":       (&policyhttp.Policies{}).Routes(),
	}
}

// API Gateway and the functions agree about every route, and about which of them are open to everybody. A greedy path
// leads to all routes of its function below it.
func TestRoutesAreThoseOfTheTemplate(t *testing.T) {
	served := servedRoutes()
	for name, f := range loadTemplate(t).functions(t) {
		got, want := map[string]bool{}, map[string]bool{}
		for _, r := range served[name] {
			got[r.Method+" "+r.Path] = r.Public
		}
		for route, isPublic := range f.Routes {
			area, isGreedy := strings.CutSuffix(route, "{proxy+}")
			if !isGreedy {
				want[route] = isPublic
				continue
			}
			method, area, _ := strings.Cut(area, " ")
			n := len(want)
			for _, r := range served[name] {
				if strings.HasPrefix(r.Path, area) {
					want[r.Method+" "+r.Path] = isPublic
				}
			}
			if method != anyMethod || len(want) == n {
				t.Errorf("%s leads to %d routes of %s, want some, by %s", route, len(want)-n, name, anyMethod)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("routes of %s in the template (-) and in the code (+):\n%s", name, diff)
		}
	}
}

// anyMethod is the method of greedy paths.
const anyMethod = "X-AMAZON-APIGATEWAY-ANY-METHOD"

// All routes below a greedy path are of its function, and none of them is in the template as well, so that no
// environment has to choose between two paths.
func TestNothingElseIsBelowAGreedyPath(t *testing.T) {
	routes := loadTemplate(t).routes(t)
	for _, greedy := range routes {
		area, ok := strings.CutSuffix(greedy.path, "{proxy+}")
		if !ok {
			continue
		}
		for _, r := range routes {
			if r != greedy && strings.HasPrefix(r.path, area) {
				t.Errorf("the template has %s %s below %s", r.method, r.path, greedy.path)
			}
		}
		for function, served := range servedRoutes() {
			for _, r := range served {
				if strings.HasPrefix(r.Path, area) && !strings.EqualFold(function+"Function", greedy.function) {
					t.Errorf("%s serves %s, which leads to %s", function, r.Path, greedy.function)
				}
			}
		}
	}
}

// DEFAULT_4XX answers that there is nothing at a path (see the template), so every other refusal of API Gateway needs a
// response of its own.
func TestOnlyMissingPathsAreLeftToTheDefault(t *testing.T) {
	api := loadTemplate(t).Resources["Api"]
	var resource struct {
		Properties struct {
			GatewayResponses map[string]yaml.Node `yaml:"GatewayResponses"`
		} `yaml:"Properties"`
	}
	errtest.Fatal(t, api.Decode(&resource))
	// All response types of API Gateway below 500 except INVALID_API_KEY: no route asks for an API key.
	for _, kind := range []string{
		"ACCESS_DENIED", "BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS", "EXPIRED_TOKEN", "INVALID_SIGNATURE",
		"MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED", "REQUEST_TOO_LARGE", "RESOURCE_NOT_FOUND", "THROTTLED",
		"UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED",
		// Those of requests that Lambda has throttled: 503 with Retry-After.
		"AUTHORIZER_CONFIGURATION_ERROR", "AUTHORIZER_FAILURE", "INTEGRATION_FAILURE",
	} {
		if _, ok := resource.Properties.GatewayResponses[kind]; !ok {
			t.Errorf("the template has no gateway response %s", kind)
		}
	}
}
