package dynamotest

import (
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// Every table of the template can be made, with its keys and indexes.
func TestTablesOfTheTemplate(t *testing.T) {
	db := Client(t)
	for id, indexes := range map[string]int{"BatchesTable": 1, "TransactionsTable": 0, "EntitiesTable": 0, "ClientsTable": 0} {
		name := Table(t, db, id)
		out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(out.Table.GlobalSecondaryIndexes); n != indexes {
			t.Errorf("%s has %d indexes, want %d", id, n, indexes)
		}
		if another := Table(t, db, id); another == name {
			t.Errorf("two tables are called %s", name)
		}
	}
}

func TestWrongDeclarations(t *testing.T) {
	for name, template := range map[string]string{
		"no resource": "Resources: {}",
		"no table":    "Resources: {X: {Type: AWS::S3::Bucket, Properties: {BucketName: !Sub '${A}'}}}",
		"no YAML":     "\tResources",
	} {
		if _, err := declaration([]byte(template), "X"); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
