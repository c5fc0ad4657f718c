package repotest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"sluice/shared/ingest/observation/lines"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// momentaryTables hold nothing that a restore would have to bring back, so that no parameter names them.
var momentaryTables = []string{"Admission", "Idempotency", "Limits", "Observations"}

var (
	tableReference = regexp.MustCompile(`!Ref (\w+)Table\b|!GetAtt (\w+)Table\.|\$\{(\w+)Table[.}]`)
)

var (
	documentedTables  = regexp.MustCompile(`(?m)^tables="([a-z ]+)"$`)
	documentedExpiry  = regexp.MustCompile(`(?m)^for t in ([a-z ]+); do\n  aws dynamodb update-time-to-live `)
	documentedSwitch  = regexp.MustCompile(`(\w+TableName)=(\w+)-\$N`)
	documentedVersion = regexp.MustCompile(`(?m)^    for f in ([a-z ]+); do\n      aws lambda ` +
		`list-versions-by-function `)
)

// The procedure of a restore names every table, those whose rows expire, and the parameters that switch them; that for
// old versions every function that has some.
func TestTheProceduresNameWhatTheTemplateHas(t *testing.T) {
	m := loadTemplate(t)
	var tables, expiring, switches, functions []string
	for id, node := range m.Resources {
		kind, _ := at(&node, "Type")
		if _, ok := at(&node, "Properties", "AutoPublishAlias"); ok {
			functions = append(functions, strings.ToLower(strings.TrimSuffix(id, "Function")))
		}
		if kind.Value != "AWS::DynamoDB::Table" || slices.Contains(momentaryTables, strings.TrimSuffix(id, "Table")) {
			continue
		}
		name, _ := at(&node, "Properties", "TableName")
		suffix := strings.TrimPrefix(name.Value, "${Prefix}-")
		tables, switches = append(tables, suffix), append(switches, id+"Name="+suffix)
		if _, ok := at(&node, "Properties", "TimeToLiveSpecification"); ok {
			expiring = append(expiring, suffix)
		}
	}
	text := string(readFile(t, "docs/operations/restore.md")) + string(readFile(t, "docs/operations/deploy.md"))
	list := func(pattern *regexp.Regexp) []string {
		if found := pattern.FindStringSubmatch(text); found != nil {
			return strings.Fields(found[1])
		}
		return nil
	}
	var switched []string
	for _, s := range documentedSwitch.FindAllStringSubmatch(text, -1) {
		switched = append(switched, s[1]+"="+s[2])
	}
	for what, pair := range map[string][2][]string{
		"tables": {tables, list(documentedTables)}, "tables whose rows expire": {expiring, list(documentedExpiry)},
		"parameters": {switches, switched}, "functions with versions": {functions, list(documentedVersion)},
	} {
		slices.Sort(pair[0])
		slices.Sort(pair[1])
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s of the template (-) and of the procedure in docs/operations (+):\n%s", what, diff)
		}
	}
}

// A restored table has another name than the one that it replaces. Functions, policies and alarms name every table by
// its parameter, so that a deployment switches them, and CloudFormation deletes nothing.
func TestTablesAreNamedByParameters(t *testing.T) {
	m := loadTemplate(t)
	tables := 0
	for id, table := range propertiesOf[struct {
		TableName string `yaml:"TableName"`
	}](t, m, "AWS::DynamoDB::Table") {
		if slices.Contains(momentaryTables, strings.TrimSuffix(id, "Table")) {
			continue
		}
		tables++
		suffix := strings.TrimPrefix(table.TableName, "${Prefix}-")
		parameter, ok := m.Parameters[id+"Name"]
		if !ok || parameter.Default == nil || *parameter.Default != suffix {
			t.Errorf("the parameter %sName does not have the default %q, the end of the table's name", id, suffix)
		}
	}
	if tables < 10 {
		t.Errorf("found %d tables, want at least 10", tables)
	}
	for _, reference := range tableReference.FindAllStringSubmatch(string(m.text), -1) {
		name := reference[1] + reference[2] + reference[3]
		if !slices.Contains(momentaryTables, name) {
			t.Errorf(`%s refers to the table of the stack: write !Sub "${Prefix}-${%sTableName}" instead`, reference[0],
				name)
		}
	}
}

// The indexes of a table can take as much at once as the table: a write waits for those that cannot.
func TestIndexesAreWarmedWithTheirTables(t *testing.T) {
	found := 0
	for id, node := range loadTemplate(t).Resources {
		if textAt(&node, "Type") != "AWS::DynamoDB::Table" {
			continue
		}
		table := textAt(&node, "Properties", "WarmThroughput")
		indexes, ok := at(&node, "Properties", "GlobalSecondaryIndexes")
		if !ok {
			continue
		}
		for _, index := range indexes.Content {
			found++
			difftest.Equal(t, id+", "+textAt(index, "IndexName")+": WarmThroughput", table,
				textAt(index, "WarmThroughput"))
		}
	}
	if found < 4 {
		t.Errorf("found %d indexes, want at least 4", found)
	}
}

// Lines are found as long as the rules of the buckets keep all files that are read for it.
func TestLinesAreFoundWhileTheirFilesAreKept(t *testing.T) {
	m := loadTemplate(t)
	kept := map[string]int{}
	for _, bucket := range []string{"UploadsBucket", "WorkBucket"} {
		node := m.Resources[bucket]
		rules, ok := at(&node, "Properties", "LifecycleConfiguration", "Rules")
		if !ok {
			t.Fatalf("%s has no rules", bucket)
		}
		var list []struct {
			Prefix           string    `yaml:"Prefix"`
			ExpirationInDays yaml.Node `yaml:"ExpirationInDays"`
			TagFilters       yaml.Node `yaml:"TagFilters"`
		}
		errtest.Fatal(t, rules.Decode(&list))
		for _, rule := range list {
			if days, err := strconv.Atoi(rule.ExpirationInDays.Value); err == nil && rule.TagFilters.IsZero() {
				kept[rule.Prefix] = days
			}
		}
	}
	for _, prefix := range []string{"uploads/", "unpacked/", "work/"} {
		if days := time.Duration(kept[prefix]) * 24 * time.Hour; days < lines.Life {
			t.Errorf("%s is kept for %s, and lines can be found for %s", prefix, days, lines.Life)
		}
	}
}
