package dynamotest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestStartMakesTheTablesOfTheTemplate(t *testing.T) {
	out := errtest.Must(Start(t).ListTables(t.Context(), &dynamodb.ListTablesInput{}))(t)
	want := []string{"test-admission", "test-batches", "test-clients", "test-documents", "test-entities",
		"test-externalauth", "test-idempotency", "test-index", "test-limits", "test-observations", "test-outbound",
		"test-policies", "test-records", "test-screenings", "test-transactions", "test-watchlists",
		"test-webhooks"}
	difftest.Equal(t, "TableNames", want, out.TableNames)
}
