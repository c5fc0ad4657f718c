package dynamotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"gopkg.in/yaml.v3"
)

var tables atomic.Int64

// Table makes an empty table with the keys and indexes that template.yaml declares under a logical ID (ClientsTable), and
// returns its name, which no other test has. It is removed with the test.
func Table(t testing.TB, db *dynamodb.Client, logicalID string) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := declaration(text, logicalID)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%s-%d", logicalID, tables.Add(1))
	in.TableName = &name
	if _, err := db.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if _, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Error(err)
		}
	})
	return name
}

type tableResource struct {
	Type       string
	Properties struct {
		AttributeDefinitions []struct {
			AttributeName string `yaml:"AttributeName"`
			AttributeType string `yaml:"AttributeType"`
		} `yaml:"AttributeDefinitions"`
		KeySchema              keySchema `yaml:"KeySchema"`
		GlobalSecondaryIndexes []struct {
			IndexName  string    `yaml:"IndexName"`
			KeySchema  keySchema `yaml:"KeySchema"`
			Projection struct {
				ProjectionType   string   `yaml:"ProjectionType"`
				NonKeyAttributes []string `yaml:"NonKeyAttributes"`
			} `yaml:"Projection"`
		} `yaml:"GlobalSecondaryIndexes"`
	} `yaml:"Properties"`
}

type keySchema []struct {
	AttributeName string `yaml:"AttributeName"`
	KeyType       string `yaml:"KeyType"`
}

func (k keySchema) elements() []types.KeySchemaElement {
	var out []types.KeySchemaElement
	for _, e := range k {
		out = append(out, types.KeySchemaElement{AttributeName: &e.AttributeName, KeyType: types.KeyType(e.KeyType)})
	}
	return out
}

// declaration turns a table of a template into the request that makes it.
func declaration(template []byte, logicalID string) (*dynamodb.CreateTableInput, error) {
	var doc struct {
		Resources map[string]yaml.Node `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(template, &doc); err != nil {
		return nil, err
	}
	node, found := doc.Resources[logicalID]
	if !found {
		return nil, fmt.Errorf("dynamotest: template.yaml has no resource %s", logicalID)
	}
	var r struct {
		Type string `yaml:"Type"`
	}
	if err := node.Decode(&r); err != nil || r.Type != "AWS::DynamoDB::Table" {
		return nil, errors.Join(fmt.Errorf("dynamotest: %s is no table", logicalID), err)
	}
	var table tableResource
	if err := node.Decode(&table); err != nil {
		return nil, err
	}
	p := table.Properties
	in := &dynamodb.CreateTableInput{BillingMode: types.BillingModePayPerRequest, KeySchema: p.KeySchema.elements()}
	for _, a := range p.AttributeDefinitions {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &a.AttributeName, AttributeType: types.ScalarAttributeType(a.AttributeType)})
	}
	for _, index := range p.GlobalSecondaryIndexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &index.IndexName, KeySchema: index.KeySchema.elements(),
			Projection: &types.Projection{ProjectionType: types.ProjectionType(index.Projection.ProjectionType),
				NonKeyAttributes: index.Projection.NonKeyAttributes},
		})
	}
	return in, nil
}
