package repotest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// momentaryTables hold nothing that a restore brings back, so that no parameter names them.
var momentaryTables = []string{"Admission", "Limits"}

var (
	tableReference = regexp.MustCompile(`!Ref (\w+)Table\b|!GetAtt (\w+)Table\.|\$\{(\w+)Table[.}]`)
)

// A restored table has another name than the one that it replaces. Functions, policies and alarms name every table by its
// parameter, so that a deployment switches them, and CloudFormation deletes nothing.
func TestTablesAreNamedByParameters(t *testing.T) {
	m := loadTemplate(t)
	text := string(readFile(t, "template.yaml"))
	tables := 0
	for id, node := range m.Resources {
		var resource struct {
			Type       string `yaml:"Type"`
			Properties struct {
				TableName string `yaml:"TableName"`
			} `yaml:"Properties"`
		}
		if err := node.Decode(&resource); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		name := strings.TrimSuffix(id, "Table")
		if resource.Type != "AWS::DynamoDB::Table" || slices.Contains(momentaryTables, name) {
			continue
		}
		tables++
		suffix := strings.TrimPrefix(resource.Properties.TableName, "${Prefix}-")
		parameter, ok := m.Parameters[id+"Name"]
		if !ok || parameter.Default == nil || *parameter.Default != suffix {
			t.Errorf("the parameter %sName does not have the default %q, the end of the table's name", id, suffix)
		}
	}
	if tables < 10 {
		t.Errorf("found %d tables, want at least 10", tables)
	}
	for _, reference := range tableReference.FindAllStringSubmatch(text, -1) {
		name := reference[1] + reference[2] + reference[3]
		if !slices.Contains(momentaryTables, name) {
			t.Errorf(`%s refers to the table of the stack: write !Sub "${Prefix}-${%sTableName}" instead`, reference[0], name)
		}
	}
}
