package dynamotest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/errtest"
)

func TestStartMakesTheTablesOfTheTemplate(t *testing.T) {
	out, err := Start(t).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	errtest.Fatal(t, err)
	want := []string{"test-admission", "test-batches", "test-clients", "test-documents", "test-entities",
		"test-externalauth", "test-idempotency", "test-limits", "test-observations", "test-outbound", "test-policies",
		"test-records", "test-screenings", "test-transactions", "test-watchlists",
		"test-webhooks"}
	if diff := cmp.Diff(want, out.TableNames); diff != "" {
		t.Error(diff)
	}
}
