package house

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"sluice/shared/httpapi"
	"sluice/shared/httpapi/identity"
	"sluice/shared/httpapi/monitoring"
	"sluice/shared/httpapi/platform/documents"
	"sluice/shared/httpapi/platform/entities"
	"sluice/shared/setup"
)

// function is what these tests read of a function in the template.
type function struct {
	Properties struct {
		Environment struct {
			Variables map[string]yaml.Node `yaml:"Variables"`
		} `yaml:"Environment"`
		Events map[string]struct {
			Type       string `yaml:"Type"`
			Properties struct {
				Method string `yaml:"Method"`
				Path   string `yaml:"Path"`
				Auth   struct {
					Authorizer string `yaml:"Authorizer"`
				} `yaml:"Auth"`
			} `yaml:"Properties"`
		} `yaml:"Events"`
	} `yaml:"Properties"`
}

// functionsOf reads the functions of the template by the name of their folder, and what all of them are given.
func functionsOf(t *testing.T) (map[string]function, map[string]yaml.Node) {
	t.Helper()
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Globals struct {
			Function struct {
				Environment struct {
					Variables map[string]yaml.Node `yaml:"Variables"`
				} `yaml:"Environment"`
			} `yaml:"Function"`
		} `yaml:"Globals"`
		Resources map[string]yaml.Node `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	out := map[string]function{}
	for name, node := range template.Resources {
		var kind struct {
			Type string `yaml:"Type"`
		}
		if err := node.Decode(&kind); err != nil || kind.Type != "AWS::Serverless::Function" {
			continue
		}
		var f function
		if err := node.Decode(&f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[strings.ToLower(strings.TrimSuffix(name, "Function"))] = f
	}
	return out, template.Globals.Function.Environment.Variables
}

func TestEveryFunctionIsDeployed(t *testing.T) {
	declared, _ := functionsOf(t)
	folders, err := filepath.Glob("functions/*")
	if err != nil {
		t.Fatal(err)
	}
	var names, want []string
	for _, f := range folders {
		want = append(want, filepath.Base(f))
	}
	for name := range declared {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// What a main requires the template must give it, and what the template gives must be a setting that is read.
func TestSettingsAreGivenAndRead(t *testing.T) {
	settings := map[string]bool{}
	config := reflect.TypeFor[setup.Config]()
	for i := range config.NumField() {
		settings[config.Field(i).Tag.Get("env")] = true
	}
	declared, global := functionsOf(t)
	for name, f := range declared {
		given := map[string]bool{}
		for variable := range f.Properties.Environment.Variables {
			given[variable] = true
			if !settings[variable] {
				t.Errorf("%s is given %s, which setup.Config does not know", name, variable)
			}
		}
		source, err := os.ReadFile("functions/" + name + "/main.go")
		if err != nil {
			t.Fatal(err)
		}
		call := regexp.MustCompile(`(?s)setup\.Must\((.*?)\)\n`).FindSubmatch(source)
		if call == nil {
			t.Errorf("%s does not start by setup.Must", name)
			continue
		}
		for _, m := range regexp.MustCompile(`"([A-Z_]+)"`).FindAllSubmatch(call[1], -1) {
			if !given[string(m[1])] {
				t.Errorf("%s requires %s, which the template does not give it", name, m[1])
			}
		}
	}
	for variable := range global {
		if !settings[variable] {
			t.Errorf("all functions are given %s, which setup.Config does not know", variable)
		}
	}
}

// served returns the routes of each function that has some.
func served() map[string][]httpapi.Route {
	return map[string][]httpapi.Route{
		"token":       (&identity.Tokens{}).Routes(),
		"batch":       (&monitoring.Batches{}).Routes(),
		"transaction": (&monitoring.Transactions{}).Routes(),
		"entity":      (&entities.Entities{}).Routes(),
		"document":    (&documents.Documents{}).Routes(),
	}
}

// API Gateway and the functions must agree about every route, and about which of them is open to all.
func TestRoutesAreThoseOfTheTemplate(t *testing.T) {
	served := served()
	declared, _ := functionsOf(t)
	for name, f := range declared {
		want, got := map[string]bool{}, map[string]bool{}
		for _, event := range f.Properties.Events {
			if event.Type == "Api" {
				p := event.Properties
				want[strings.ToUpper(p.Method)+" "+p.Path] = p.Auth.Authorizer == "NONE"
			}
		}
		for _, r := range served[name] {
			got[r.Method+" "+r.Path] = r.Public
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// DEFAULT_4XX says that there is nothing at a path (see the template), so every other refusal of API Gateway needs its own.
func TestOnlyMissingPathsAreLeftToTheDefault(t *testing.T) {
	var template struct {
		Resources struct {
			Api struct {
				Properties struct {
					GatewayResponses map[string]struct {
						StatusCode string `yaml:"StatusCode"`
					} `yaml:"GatewayResponses"`
				} `yaml:"Properties"`
			} `yaml:"Api"`
		} `yaml:"Resources"`
	}
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	// All types of API Gateway below 500 but INVALID_API_KEY, which nothing here asks for.
	for _, kind := range []string{"ACCESS_DENIED", "BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS", "EXPIRED_TOKEN", "INVALID_SIGNATURE",
		"MISSING_AUTHENTICATION_TOKEN", "QUOTA_EXCEEDED", "REQUEST_TOO_LARGE", "RESOURCE_NOT_FOUND", "THROTTLED", "UNAUTHORIZED",
		"UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED"} {
		if _, ok := template.Resources.Api.Properties.GatewayResponses[kind]; !ok {
			t.Errorf("%s has no response of its own", kind)
		}
	}
}

// A template that is deployed with no parameter given works, and each parameter says what it is for.
func TestParametersHaveDefaultsAndDescriptions(t *testing.T) {
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Parameters map[string]struct {
			Default     *string `yaml:"Default"`
			Description string  `yaml:"Description"`
		} `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	if len(template.Parameters) == 0 {
		t.Fatal("no parameters found")
	}
	for name, p := range template.Parameters {
		if p.Default == nil || p.Description == "" {
			t.Errorf("%s has no default or no description", name)
		}
	}
}
