package e2e

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

// With one slot for all, the batches of several tenants are processed one after the other, and all of them are; those
// that are cancelled while they wait leave at once.
func TestBatchesWaitForSlots(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "ValidationSlots=1", "ValidationSlotsPerTenant=1", "IngestionSlots=1",
		"IngestionSlotsPerTenant=1", "SweepAge=1")
	onboardEntities(t, cloud)
	first := login(t, cloud)
	// The only slot of validation is held by a batch that does not exist: everyone waits until the sweep takes it back.
	cloud.holdSlot(t, "validation", uuid.NewString())
	started := map[string]*session{}
	for range 3 {
		started[first.startBatch(true, jsonLines(validLine()))] = first
	}
	other := loginBatchTenant(t, cloud)
	for range 2 {
		started[other.startBatch(false, jsonLines(validLine()))] = other
	}
	started[other.startBatch(true, []byte("nonsense\n"))] = other
	eventually(t, "the tickets of all batches", func() bool {
		return len(cloud.tickets(t, "validation")) == len(started)
	})
	positions := map[int64]bool{}
	for id, api := range started {
		status, err := api.client.Status(t.Context(), id)
		if err != nil || status.Status != "" || status.QueuePosition == nil {
			t.Fatalf("the status of a batch that waits is %+v, error %v, want one with a position", status, err)
		}
		positions[*status.QueuePosition] = true
	}
	if len(positions) != len(started) || !positions[1] || !positions[int64(len(started))] {
		t.Errorf("the positions are %v, want 1 to %d", positions, len(started))
	}
	cloud.sweep(t)
	for id, api := range started {
		last, _ := api.follow(id)
		if last.Status != "PROCESSED" && (api == first || last.Status != "VALIDATION_FAILED") {
			t.Errorf("batch %s ended with %s (%q)", id, last.Status, last.ErrorMessage)
		}
	}
	for _, stage := range []string{"validation", "ingestion"} {
		eventually(t, "the end of all waiting", func() bool { return len(cloud.tickets(t, stage)) == 0 })
		if gate := cloud.gate(t, stage); len(gate) != 0 {
			t.Errorf("slots of %s are held after the end: %v", stage, gate)
		}
	}
	testCancelWhileWaiting(t, cloud)
}

// loginBatchTenant opens a session of a new tenant that may use the batch interface and has the usual sender.
func loginBatchTenant(t *testing.T, e *Environment) *session {
	t.Helper()
	s := loginTenantOf(t, e)
	s.enableBatches()
	s.onboardParties()
	return s
}

// admissionKey is the key of an item of the table of admissions.
func admissionKey(stage, place string) tableItem {
	return tableItem{
		"stage": &dynamodbtypes.AttributeValueMemberS{Value: stage},
		"place": &dynamodbtypes.AttributeValueMemberS{Value: place},
	}
}

// holdSlot gives a slot of a stage to a batch, as if it had been admitted long ago.
func (e *Environment) holdSlot(t *testing.T, stage, id string) {
	t.Helper()
	text := func(s string) dynamodbtypes.AttributeValue { return &dynamodbtypes.AttributeValueMemberS{Value: s} }
	item := admissionKey(stage, "#gate")
	item["version"] = &dynamodbtypes.AttributeValueMemberN{Value: "1"}
	item["turn"] = text("")
	const longAgo = "2026-01-01T00:00:00Z"
	item["holders"] = &dynamodbtypes.AttributeValueMemberM{Value: tableItem{
		id: &dynamodbtypes.AttributeValueMemberM{Value: tableItem{
			"tenant": text(uuid.NewString()), "received_at": text(longAgo), "since": text(longAgo),
			"look_at": text(longAgo),
		}},
	}}
	ok(e.tables(t).PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(e.Prefix + "-admission"), Item: item,
	}))(t)
}

// gate returns the holders of the slots of a stage.
func (e *Environment) gate(t *testing.T, stage string) tableItem {
	t.Helper()
	out := ok(e.tables(t).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(e.Prefix + "-admission"),
		Key: admissionKey(stage, "#gate")}))(t)
	holders, _ := out.Item["holders"].(*dynamodbtypes.AttributeValueMemberM)
	if holders == nil {
		t.Fatalf("the gate of %s is %v, want one with holders", stage, out.Item)
	}
	return holders.Value
}

// tickets returns the places of a stage where batches wait.
func (e *Environment) tickets(t *testing.T, stage string) []string {
	t.Helper()
	out := ok(e.tables(t).Query(t.Context(), &dynamodb.QueryInput{
		TableName:              aws.String(e.Prefix + "-admission"),
		KeyConditionExpression: aws.String("stage = :stage AND place > :gate"),
		ExpressionAttributeValues: tableItem{
			":stage": &dynamodbtypes.AttributeValueMemberS{Value: stage},
			":gate":  &dynamodbtypes.AttributeValueMemberS{Value: "#gate"},
		},
	}))(t)
	var places []string
	for _, item := range out.Items {
		places = append(places, item["place"].(*dynamodbtypes.AttributeValueMemberS).Value)
	}
	return places
}
