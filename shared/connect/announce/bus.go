package announce

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"sluice/shared/connect/event"
)

// Bus is an event bus of EventBridge.
type Bus struct {
	client *eventbridge.Client
	name   string
}

var _ event.Sender = (*Bus)(nil)

// NewBus returns the event bus of the given name or ARN.
func NewBus(client *eventbridge.Client, name string) *Bus { return &Bus{client, name} }

// Send puts the message on the bus: as the detail of an event whose source and detail-type follow from its type.
func (b *Bus) Send(ctx context.Context, m event.Message) error {
	text, err := m.Encode()
	if err != nil {
		return err
	}
	out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
		EventBusName: &b.name, Source: aws.String(m.Type.Source()), DetailType: aws.String(string(m.Type)),
		Detail: aws.String(string(text)), Time: &m.When,
	}}})
	if err != nil {
		return fmt.Errorf("put event %s on the bus: %w", m.ID, err)
	}
	// A request can succeed although the bus has refused its entry.
	for _, entry := range out.Entries {
		if entry.EventId == nil {
			return fmt.Errorf("put event %s on the bus: %s: %s", m.ID, aws.ToString(entry.ErrorCode),
				aws.ToString(entry.ErrorMessage))
		}
	}
	if out.FailedEntryCount > 0 || len(out.Entries) == 0 {
		return fmt.Errorf("put event %s on the bus: the answer has no entry for it", m.ID)
	}
	return nil
}
