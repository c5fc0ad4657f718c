package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"sluice/client"
)

// The functions that take idempotency keys, with the calls to AWS that they make for a request with a new key.
var keyedFunctions = map[string]int{
	"batch":   3, // the key, the batch, the answer
	"receive": 7, // the key, earlier versions, entities, the version, its observation, the count, the answer
}

// killRepeatedRequests kills functions before and after each of their calls to AWS for a request with an idempotency
// key, which the Go client then repeats until it is answered: it has had its effect once. Until a function that was
// killed would have ended, half a minute passes, so the requests run beside the test, which waits for them at its end.
func (c killing) killRepeatedRequests(t *testing.T) {
	api := login(t, c.Environment)
	// The context of the test ends before its cleanup.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	var group sync.WaitGroup
	t.Cleanup(func() {
		group.Wait()
		cancel()
	})
	for function, calls := range keyedFunctions {
		for i := range 2*calls + 1 {
			k := killRule{Function: function, Call: i/2 + 1, After: i%2 == 1, Payload: uuid.NewString()}
			group.Go(func() {
				if err := c.killRepeatedRequest(ctx, api, k, i < 2*calls); err != nil {
					t.Errorf("%+v: %v", k, err)
				}
			})
		}
	}
}

// killRepeatedRequest makes one request, whose key is the payload of the rule.
func (c killing) killRepeatedRequest(ctx context.Context, api *session, k killRule, isKilled bool) error {
	var kill struct {
		Number int `json:"number"`
	}
	if err := c.callFaults("Arm", k, &kill); err != nil {
		return err
	}
	in := &dynamodb.ScanInput{ConsistentRead: aws.Bool(true)}
	observation := ""
	if k.Function == "batch" {
		_, err := api.client.CreateUploadWith(ctx,
			client.UploadOptions{RejectOnInvalid: true, Name: k.Payload, IdempotencyKey: k.Payload})
		if err != nil {
			return err
		}
		in.TableName, in.FilterExpression = aws.String(c.Prefix+"-batches"), aws.String("#key = :key")
		in.ExpressionAttributeNames = map[string]string{"#key": "name"}
		in.ExpressionAttributeValues = tableItem{
			":key": &dynamodbtypes.AttributeValueMemberS{Value: k.Payload},
		}
	} else {
		l := validLine()
		if _, err := api.client.SendTransaction(ctx, []byte(l.String()),
			client.SendOptions{IdempotencyKey: k.Payload}); err != nil {
			return err
		}
		in.TableName, in.FilterExpression = aws.String(c.Prefix+"-transactions"), aws.String("#key = :key")
		in.ExpressionAttributeNames = map[string]string{"#key": "transaction"}
		in.ExpressionAttributeValues = tableItem{
			":key": &dynamodbtypes.AttributeValueMemberS{Value: c.TenantID + "#" + l.transactionID()},
		}
		observation = c.TenantID + "#modification#" + l.modificationID()
	}
	var state killState
	if err := c.callFaults("State", kill, &state); err != nil {
		return err
	}
	if isKilled != (state.Killed != "") {
		return fmt.Errorf("killed at %q after %d calls, want a kill: %t", state.Killed, state.Calls, isKilled)
	}
	db, err := c.database()
	if err != nil {
		return err
	}
	out, err := db.Scan(ctx, in)
	if err == nil && out.Count != 1 {
		err = fmt.Errorf("killed at %q, the request made %d items, want 1", state.Killed, out.Count)
	}
	if err != nil || observation == "" {
		return err
	}
	observed, err := db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(c.Prefix + "-observations"),
		KeyConditionExpression: aws.String("id = :id"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: tableItem{
			":id": &dynamodbtypes.AttributeValueMemberS{Value: observation},
		}})
	if err == nil && observed.Count != 1 {
		err = fmt.Errorf("killed at %q, the request was observed %d times, want once", state.Killed, observed.Count)
	}
	return err
}
