package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// memoryWatch collects the peak memory of the processes of functions.
type memoryWatch struct {
	cloud    *cloud
	end      chan struct{}
	watching sync.WaitGroup
	once     sync.Once
	// peaks are in bytes, by function.
	peaks map[string]int64
}

// watchMemory watches the processes of the functions of a local cloud until stop. The kernel keeps the peak of a
// process, so that only the end of a process between two looks can be missed; a local cloud keeps idle ones for
// minutes.
func watchMemory(c *cloud) *memoryWatch {
	w := &memoryWatch{cloud: c, end: make(chan struct{}), peaks: map[string]int64{}}
	w.watching.Go(func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			w.sample()
			select {
			case <-w.end:
				return
			case <-tick.C:
			}
		}
	})
	return w
}

// stop ends the watch and returns the peaks. It may be called again.
func (w *memoryWatch) stop() map[string]int64 {
	w.once.Do(func() { close(w.end) })
	w.watching.Wait()
	w.sample()
	return w.peaks
}

func (w *memoryWatch) sample() {
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // fails for no reason that could apply
	for _, link := range links {
		program, err := os.Readlink(link)
		name := w.cloud.functionOf(program)
		if err != nil || name == "" {
			continue // has ended, or is another program
		}
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(link), "status")); err == nil {
			w.peaks[name] = max(w.peaks[name], peakMemory(string(text)))
		}
	}
}

// peakMemory returns the peak resident memory, in bytes, that a status file of /proc names; 0 if it names none.
func peakMemory(status string) int64 {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10,
				64)
			return kilobytes << 10
		}
	}
	return 0
}
