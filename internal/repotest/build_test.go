package repotest

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// A build for another processor than the one that SAM deploys fails with what to do, and leaves no program.
func TestSAMBuildsForTheProcessorOfTheTemplate(t *testing.T) {
	repositoryFiles(t)
	own := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH] // which make build has compiled
	const build = "make --no-print-directory build-AdmitFunction ARTIFACTS_DIR=$DIR $ARGS; status=$?; exit $status"
	for _, test := range []struct {
		name string
		// sam is the command line of the process that starts make.
		sam, args, want string
	}{
		{"an argument", "sam build --parameter-overrides Arch=x86_64 Environment=test", "", "export ARCH=x86_64"},
		{"a list of arguments", "sam build --parameter-overrides ParameterKey=Arch,ParameterValue=arm64", "ARCH=x86_64",
			"export ARCH=arm64"},
		{"an environment of samconfig.toml", "/usr/bin/python3 /usr/bin/sam build --config-env local", "",
			"export ARCH=x86_64"},
		{"an unknown one", "make", "ARCH=amd64", "ARCH=amd64 is not known"},
		{"a program for another one", "make", "ARCH=" + own + " ELF_" + own + "=ff",
			"The program of AdmitFunction is not one for " + own},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command("sh", append([]string{"-c", build}, strings.Fields(test.sam)...)...)
			cmd.Env = append(withoutVariables(cmd.Environ(), "ARCH", "MAKEFLAGS", "GOFLAGS"), "DIR="+dir,
				"ARGS="+test.args)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) {
				t.Errorf("%v: %v, %s; want a failure that says %q", test.sam, err, out, test.want)
			}
			if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 0 {
				t.Errorf("there are %v, want no program", files)
			}
		})
	}
}

// Every function of the template has a make target, which builds its program.
func TestSAMTargets(t *testing.T) {
	for name, f := range loadTemplate(t).functions(t) {
		target := "build-" + strings.ToUpper(name[:1]) + name[1:] + "Function"
		out, err := exec.Command("make", "--no-print-directory", "-n", target, "ARTIFACTS_DIR=there").CombinedOutput()
		want := `-o "there/bootstrap" ./functions/` + f.Program + "\n"
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("make -n %s: %v, want a command with %s, got\n%s", target, err, want, out)
		}
	}
}

// deployedModules are the modules that the functions may be linked with. A module that only tests or tools need must
// not appear in a function, so that it cannot slow its start or add to what must be kept secure.
var deployedModules = []string{
	"github.com/aws/aws-lambda-go",
	"github.com/aws/aws-sdk-go-v2",
	"github.com/aws/smithy-go",
	"github.com/awslabs/aws-lambda-go-api-proxy",
	"github.com/cockroachdb/apd",
	"github.com/dchest/siphash",
	"github.com/go-json-experiment/json",
	"github.com/google/uuid",
	"github.com/klauspost/compress",
	"github.com/lestrrat-go",
	"golang.org/x/crypto",
	"golang.org/x/sync",
	modulePath,
}

// parquetModules are those that the function exportbatch alone is linked with: the Parquet library and its own modules,
// which double the size of the program.
var parquetModules = []string{
	"github.com/andybalholm/brotli",
	"github.com/parquet-go",
	"github.com/pierrec/lz4",
	"github.com/twpayne/go-geom",
	"golang.org/x/sys",
	"google.golang.org/protobuf",
}

func TestFunctionsAreLinkedWithKnownModules(t *testing.T) {
	repositoryFiles(t)
	mains := errtest.Must(filepath.Glob("functions/*/main.go"))(t)
	for i := range mains {
		mains[i] = filepath.Dir(mains[i])
	}
	const exporter = "functions/exportbatch"
	mains = slices.DeleteFunc(mains, func(folder string) bool { return folder == exporter })
	checkLinked(t, mains, deployedModules, deployedModules)
	checkLinked(t, []string{exporter}, slices.Concat(deployedModules, parquetModules), parquetModules)
}

// checkLinked checks that the mains in folders are linked with no other modules than known ones, and, together, with
// all that are needed.
func checkLinked(t *testing.T, folders, known, needed []string) {
	t.Helper()
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}
	for _, folder := range folders {
		args = append(args, "./"+folder)
	}
	out := errtest.Must(exec.Command("go", args...).Output())(t)
	linked := strings.Fields(string(out))
	slices.Sort(linked)
	linked = slices.Compact(linked)
	isPartOf := func(module, known string) bool { return module == known || strings.HasPrefix(module, known+"/") }
	for _, module := range linked {
		if !slices.ContainsFunc(known, func(known string) bool { return isPartOf(module, known) }) {
			t.Errorf("functions are linked with %s: remove it from them, or list it", module)
		}
	}
	for _, module := range needed {
		if !slices.ContainsFunc(linked, func(linked string) bool { return isPartOf(linked, module) }) {
			t.Errorf("no function is linked with %s: remove it from the list", module)
		}
	}
}

// withoutVariables returns an environment without the named variables.
func withoutVariables(environment []string, names ...string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(names, name)
	})
}
