package template

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"sluice/shared/kit/errtest"
)

const environmentsDocument = "../../docs/environments.md"

// Each resource of the template either exists in the local cloud, or is in the table of what an environment ignores.
func TestIgnoredResourcesAreDocumented(t *testing.T) {
	t.Parallel()
	document := errtest.Must(os.ReadFile(environmentsDocument))(t)
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(AWS::[^`]+)` \\| ignored \\|").FindAllSubmatch(document, -1) {
		documented = append(documented, string(row[1]))
	}
	text := errtest.Must(os.ReadFile("../../template.yaml"))(t)
	parsed := errtest.Must(parseYAML(text))(t)
	served := map[string]bool{}
	for _, step := range (&builder{}).steps() {
		served[step.kind] = true
	}
	used := map[string]bool{}
	for id, entry := range section(parsed, "Resources") {
		res, err := readResource(entry)
		if err != nil {
			t.Fatalf("%s %v", id, err)
		}
		used[res.kind] = true
		if !served[res.kind] && !slices.Contains(documented, res.kind) {
			t.Errorf("the local cloud ignores %s (%s): say so in %s", id, res.kind, environmentsDocument)
		}
	}
	for _, kind := range documented {
		if served[kind] || !used[kind] {
			t.Errorf("%s says that the local cloud ignores %s, which exists there or is not in the template",
				environmentsDocument, kind)
		}
	}
}
