package repotest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// layer is what a package of the service is for. It follows from the package's folder, so that a new area needs no
// change here.
type layer string

const (
	// domainLayer packages hold the rules of the trade. They import only the standard library, each other and
	// domainModules.
	domainLayer layer = "domain"
	// storeLayer packages, shared/AREA/...db, keep an area's things in DynamoDB.
	storeLayer layer = "store"
	// handlerLayer packages, shared/AREA/...http, answer an area's HTTP requests.
	handlerLayer layer = "handler"
	// kitLayer packages know no area.
	kitLayer layer = "kit"
	// serviceLayer packages act on the things of areas, whose stores they are given.
	serviceLayer layer = "service"
	// setupLayer puts the parts of a function together.
	setupLayer layer = "setup"
	// testLayer packages, ...test and fake..., are imported by tests only.
	testLayer layer = "testing"
	// outsideLayer is everything outside shared.
	outsideLayer layer = "outside"
)

// layers are the packages whose layer does not follow from their names. All others in shared are domain packages.
var layers = map[string]layer{
	"shared/kit/dynamo":                       kitLayer, // items, keys, paging, writes
	"shared/access/httpapi":                   kitLayer, // routes, decoding, replies, permissions
	"shared/access/httpapi/platform":          kitLayer,
	"shared/kit/objects":                      kitLayer,
	"shared/kit/malware":                      kitLayer,
	"shared/kit/routing":                      kitLayer,
	"shared/kit/awsconfig":                    kitLayer,
	"shared/kit/deadline":                     kitLayer,
	"shared/kit/invoke":                       kitLayer,
	"shared/kit/machine":                      kitLayer,
	"shared/kit/kmskey":                       kitLayer,
	"shared/kit/sealed":                       kitLayer,
	"shared/connect/announce":                 serviceLayer,
	"shared/access/auth":                      serviceLayer,
	"shared/connect/delivery":                 serviceLayer,
	"shared/ingest/intake":                    serviceLayer,
	"shared/platform/document/documentintake": serviceLayer,
	"shared/connect/outbound":                 serviceLayer,
	"shared/ingest/pipeline":                  serviceLayer,
	"functions/setup":                         setupLayer,

	"functions/setup/batchsetup":     setupLayer,
	"functions/setup/eventsetup":     setupLayer,
	"functions/setup/listsetup":      setupLayer,
	"functions/setup/outboundsetup":  setupLayer,
	"functions/setup/policysetup":    setupLayer,
	"functions/setup/screeningsetup": setupLayer,
	"shared/ingest/receipt/issue":    serviceLayer,
	"shared/screening/execution":     serviceLayer,
}

// domainModules are the modules that domain packages may import.
var domainModules = []string{"github.com/google/uuid", "github.com/dchest/siphash", "golang.org/x/sync",
	"github.com/go-json-experiment/json", // for what must be read strictly, wherever it arrives
	"github.com/cockroachdb/apd",         // for decimal arithmetic
	"github.com/parquet-go/parquet-go",   // for the form in which lines are exported
	"github.com/klauspost/compress"}      // for the form in which lines are stored, and for packed uploads

// sdkModule is the AWS SDK.
const sdkModule = "github.com/aws/aws-sdk-go-v2"

// importExceptions are imports that the rules forbid, each with the reason for which it is allowed.
var importExceptions = map[[2]string]string{
	{"shared/ingest/batch/batchhttp", "shared/ingest/intake"}:           "intake reads the key of an upload again",
	{"shared/access/httpapi", "shared/access/ratelimit"}:                "limits are of requests, and are no area",
	{"shared/access/httpapi/platform", "shared/access/ratelimit"}:       "as of shared/access/httpapi",
	{"shared/access/httpapi", "shared/access/idempotency"}:              "keys are of requests, and are no area",
	{"shared/platform/document/documentintake", "shared/ingest/intake"}: "files are scanned, too",
	{"shared/connect/delivery", "shared/connect/outbound"}:              "deliveries are calls, and say why one failed",
	{"shared/screening/execution", "shared/connect/outbound"}:           "questions to adapters are calls, too",
}

// modulesOfOnePlace are modules that only some packages, and those below them, import, so that they can be replaced in
// one place.
var modulesOfOnePlace = map[string][]string{
	"github.com/lestrrat-go/jwx":                 {"shared/access/auth"},
	"github.com/awslabs/aws-lambda-go-api-proxy": {"shared/access/httpapi"},
	"golang.org/x/oauth2":                        {"e2e"}, // in its tests only
	"github.com/cockroachdb/apd":                 {"shared/policy/formula"},
	"github.com/parquet-go/parquet-go":           {"shared/ingest/export/parquetfile"},
	"github.com/spf13": { // programs for people, and no function
		"cmd/sluice", "internal/command", "local/cmd/sluice-local",
	},
}

// layerOf returns the layer of the package in a folder.
func layerOf(folder string) layer {
	name := path.Base(folder)
	isInArea := strings.Count(folder, "/") >= 2
	switch {
	case layers[folder] != "":
		return layers[folder]
	case !strings.HasPrefix(folder, "shared/"):
		return outsideLayer
	case strings.HasSuffix(name, "test") || strings.HasPrefix(name, "fake"):
		return testLayer
	case isInArea && strings.HasSuffix(name, "db"):
		return storeLayer
	case isInArea && strings.HasSuffix(name, "http"):
		return handlerLayer
	}
	return domainLayer
}

// allowedLayers are the layers that each layer of shared may import; setup and tests may import everything in shared.
var allowedLayers = map[layer][]layer{
	domainLayer:  {domainLayer},
	storeLayer:   {domainLayer, kitLayer},
	handlerLayer: {domainLayer, kitLayer},
	kitLayer:     {domainLayer, kitLayer},
	serviceLayer: {domainLayer, kitLayer},
}

// Imports between the packages of the service run one way: functions, setup, handlers and stores, services, kits,
// domain. No area imports the store or the handlers of another one.
func TestImports(t *testing.T) {
	used := map[[2]string]bool{}
	areas := areasOf(t)
	for _, p := range modulePackages(t) {
		folder := folderOf(p)
		for imported := range p.Imports {
			reason := forbiddenImport(folder, imported, areas)
			exception := [2]string{folder, strings.TrimPrefix(imported, modulePath+"/")}
			switch {
			case reason == "":
			case importExceptions[exception] != "":
				used[exception] = true
			default:
				t.Errorf("%s imports %s: %s", folder, imported, reason)
			}
		}
	}
	for exception := range importExceptions {
		if !used[exception] {
			t.Errorf("the exception for %s importing %s is not needed", exception[0], exception[1])
		}
	}
}

// areasOf returns the folders that have a store or handlers inside.
func areasOf(t *testing.T) []string {
	t.Helper()
	var areas []string
	for _, p := range modulePackages(t) {
		if l := layerOf(folderOf(p)); l == storeLayer || l == handlerLayer {
			areas = append(areas, path.Dir(folderOf(p)))
		}
	}
	slices.Sort(areas)
	areas = slices.Compact(areas)
	if len(areas) < 4 {
		t.Fatalf("found the areas %v, want four or more", areas)
	}
	return areas
}

// forbiddenImport returns why the package in a folder may not import a path, "" if it may.
func forbiddenImport(folder, imported string, areas []string) string {
	own := layerOf(folder)
	isPlace := func(place string) bool { return isWithin(folder, place) }
	if places := placesOf(imported); places != nil && !slices.ContainsFunc(places, isPlace) {
		return "only " + strings.Join(places, " and ") + " may import it"
	}
	other, isOurs := strings.CutPrefix(imported, modulePath+"/")
	if !isOurs {
		return forbiddenModule(own, imported)
	}
	switch {
	case strings.HasPrefix(other, "functions/") && !strings.HasPrefix(other, "functions/setup"):
		return "nothing imports a function"
	case layerOf(other) == setupLayer && own != setupLayer && !strings.HasPrefix(folder, "functions/"):
		return "only functions are put together by it"
	case other == "openapi" && !strings.HasPrefix(folder, "openapi/"):
		return "the interface description is for tests and the reference"
	case other == "openapi/wire" && own == handlerLayer:
		return "" // the types of replies
	case own != outsideLayer && layerOf(other) == outsideLayer:
		return "shared imports only shared"
	case layerOf(other) == testLayer && own != testLayer:
		return "only tests import it"
	case own == outsideLayer || own == setupLayer || own == testLayer:
		return ""
	case other == path.Dir(folder):
		return "" // an area's store and handlers import the area
	case own == kitLayer && slices.Contains(areas, other):
		return "a kit knows no area"
	case own == handlerLayer && other == "shared/kit/dynamo":
		return "handlers are given a store"
	case own == storeLayer && layerOf(other) == kitLayer && other != "shared/kit/dynamo":
		return "a store imports only the kit for DynamoDB"
	case !slices.Contains(allowedLayers[own], layerOf(other)):
		return "a " + string(own) + " package does not import a " + string(layerOf(other)) + " package"
	}
	return ""
}

// forbiddenModule returns why a package of a layer may not import a package outside the module, "" if it may.
func forbiddenModule(own layer, imported string) string {
	isStandard := !strings.Contains(strings.Split(imported, "/")[0], ".")
	isAllowed := func(module string) bool { return isWithin(imported, module) }
	switch {
	case own == domainLayer && !isStandard && !slices.ContainsFunc(domainModules, isAllowed):
		return "a domain package imports only the standard library and domainModules"
	case own == handlerLayer && isWithin(imported, sdkModule):
		return "handlers do not call AWS themselves"
	}
	return ""
}

// isWithin reports whether an import path is that of a module or folder, or below it. A major version may follow.
func isWithin(imported, module string) bool {
	return imported == module || strings.HasPrefix(imported, module+"/")
}

// placesOf returns the packages that alone, with those below them, may import a path, nil if all may.
func placesOf(imported string) []string {
	for module, places := range modulesOfOnePlace {
		if isWithin(imported, module) {
			return places
		}
	}
	return nil
}
