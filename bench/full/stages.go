package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// stage is a part of the life of a batch.
type stage struct {
	name  string
	began time.Time
	took  time.Duration
}

// end is when the stage ended.
func (s stage) end() time.Time { return s.began.Add(s.took) }

// stagesOf returns how long each state of an execution took, in the order of their beginnings, and the number of
// events. States inside a Map belong to it.
func stagesOf(ctx context.Context, c *cloud, batchID string) (stages []stage, events int, err error) {
	client := sfn.NewFromConfig(c.aws())
	machines, err := client.ListStateMachines(ctx, &sfn.ListStateMachinesInput{})
	if err != nil {
		return nil, 0, err
	}
	i := slices.IndexFunc(machines.StateMachines,
		func(m types.StateMachineListItem) bool { return aws.ToString(m.Name) == c.Prefix+"-batch" })
	if i < 0 {
		return nil, 0, fmt.Errorf("there is no state machine %s-batch", c.Prefix)
	}
	arn := strings.Replace(aws.ToString(machines.StateMachines[i].StateMachineArn), ":stateMachine:", ":execution:", 1)
	var all []types.HistoryEvent
	pages := sfn.NewGetExecutionHistoryPaginator(client, &sfn.GetExecutionHistoryInput{
		ExecutionArn: aws.String(arn + ":" + batchID), MaxResults: 1000,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, page.Events...)
	}
	return measureStages(all), len(all), nil
}

// measureStages returns the stages of a history.
func measureStages(events []types.HistoryEvent) []stage {
	var stages []stage
	current := "" // the outer state
	var since time.Time
	for _, e := range events {
		switch {
		case e.StateEnteredEventDetails != nil && current == "":
			current, since = aws.ToString(e.StateEnteredEventDetails.Name), aws.ToTime(e.Timestamp)
		case e.StateExitedEventDetails != nil && aws.ToString(e.StateExitedEventDetails.Name) == current:
			stages = append(stages, stage{current, since, aws.ToTime(e.Timestamp).Sub(since)})
			current = ""
		}
	}
	return stages
}
