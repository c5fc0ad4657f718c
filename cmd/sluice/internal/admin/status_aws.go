package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"
)

// alarmNames are the alarms that an installation may have, after the prefix.
var alarmNames = strings.Fields(`
adapters-not-notified announcements-failing api-failing api-slow audit-late authorizer-failing batches-failing
batches-not-closed batches-stopped batches-stuck batches-throttled batches-wait-long certificates-failing
chunks-failing credentials-refused deliveries-interrupted deliveries-not-ended exports-failing foreign-tenants
functions-throttled
index-failing limits-not-checked plan-unhealthy receipts-not-signed scans-failing scans-lost screenings-interrupted
screenings-not-ended steps-failing sweep-missing transactions-throttled watchlists-failing watchlists-not-loaded
watchlists-old`)

// deadLetterQueues are the functions that have a queue of dead letters, which has their name.
var deadLetterQueues = []string{"announce", "close", "conduct", "deliver", "export", "index", "scan"}

// severities are the words at the end of an alarm's description, in parentheses: a page is for whoever is on call, a
// ticket for the next working day.
var severities = []string{"page", "ticket"}

// alarmsOutput is the alarms of an installation.
type alarmsOutput struct {
	// Checked is how many alarms there are.
	Checked int           `json:"checked"`
	InAlarm []alarmOutput `json:"in_alarm"`
}

// alarmOutput is an alarm in the state ALARM.
type alarmOutput struct {
	Alarm string `json:"alarm"`
	// Severity is page or ticket, or "" if the alarm is of an earlier release.
	Severity string    `json:"severity"`
	Since    time.Time `json:"since"`
	Meaning  string    `json:"meaning"`
}

func (r *statusReader) readAlarms(ctx context.Context) error {
	if r.isLocal {
		return errNotThere("a local cloud has no alarms")
	}
	in := &cloudwatch.DescribeAlarmsInput{MaxRecords: aws.Int32(100), AlarmTypes: []types.AlarmType{
		types.AlarmTypeMetricAlarm}}
	for _, name := range alarmNames {
		in.AlarmNames = append(in.AlarmNames, r.prefix+"-"+name)
	}
	found, err := cloudwatch.NewFromConfig(r.aws).DescribeAlarms(ctx, in)
	if err != nil {
		return err
	}
	if len(found.MetricAlarms) == 0 {
		return fmt.Errorf("there is no alarm %s-...: name the Prefix of the installation with --prefix, or another "+
			"account or region", r.prefix)
	}
	alarms := &alarmsOutput{Checked: len(found.MetricAlarms), InAlarm: []alarmOutput{}}
	for _, alarm := range found.MetricAlarms {
		if alarm.StateValue != types.StateValueAlarm {
			continue
		}
		out := alarmOutput{Alarm: strings.TrimPrefix(aws.ToString(alarm.AlarmName), r.prefix+"-"),
			Since:   aws.ToTime(cmp.Or(alarm.StateTransitionedTimestamp, alarm.StateUpdatedTimestamp)),
			Meaning: aws.ToString(alarm.AlarmDescription)}
		for _, severity := range severities {
			if meaning, isIt := strings.CutSuffix(out.Meaning, " ("+severity+")"); isIt {
				out.Meaning, out.Severity = meaning, severity
			}
		}
		alarms.InAlarm = append(alarms.InAlarm, out)
	}
	slices.SortFunc(alarms.InAlarm, func(a, b alarmOutput) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
			a.Since.Compare(b.Since))
	})
	r.out.Alarms = alarms
	return nil
}

// queues counts the messages of all queues of dead letters.
func (r *statusReader) queues(ctx context.Context) ([]deadLetterOutput, error) {
	client := sqs.NewFromConfig(r.aws)
	out := make([]deadLetterOutput, len(deadLetterQueues))
	ages := make([]metricQuery, len(out))
	group, limited := errgroup.WithContext(ctx)
	for i, function := range deadLetterQueues {
		name := r.prefix + "-" + function + "-dead-letters"
		ages[i] = metricQuery{"AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", name, "Maximum"}
		group.Go(func() error {
			queue, err := client.GetQueueUrl(limited, &sqs.GetQueueUrlInput{QueueName: &name})
			if err != nil {
				return err
			}
			const visible = sqstypes.QueueAttributeNameApproximateNumberOfMessages
			got, err := client.GetQueueAttributes(limited, &sqs.GetQueueAttributesInput{QueueUrl: queue.QueueUrl,
				AttributeNames: []sqstypes.QueueAttributeName{visible}})
			if err != nil {
				return err
			}
			out[i].Queue = name
			out[i].Messages, err = strconv.Atoi(got.Attributes[string(visible)])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(out, func(q deadLetterOutput) bool { return q.Messages > 0 }) {
		return out, nil
	}
	// The metric is some minutes old.
	values, err := r.metricValues(ctx, 15*time.Minute, ages)
	for i := range values {
		if out[i].Messages > 0 && len(values[i]) > 0 {
			out[i].OldestSeconds = &values[i][0]
		}
	}
	return out, err
}

// throttles counts what AWS has throttled.
func (r *statusReader) throttles(ctx context.Context) ([]throttleOutput, error) {
	tables, err := r.tables(ctx, "TABLE_BATCHES", "TABLE_TRANSACTIONS")
	if err != nil {
		return nil, err
	}
	const sum, tableName = "Sum", "TableName"
	values, err := r.metricValues(ctx, throttledWithin, []metricQuery{
		{"AWS/Lambda", "Throttles", "", "", sum},
		{"AWS/DynamoDB", "ReadThrottleEvents", tableName, tables["TABLE_BATCHES"], sum},
		{"AWS/DynamoDB", "WriteThrottleEvents", tableName, tables["TABLE_BATCHES"], sum},
		{"AWS/DynamoDB", "WriteThrottleEvents", tableName, tables["TABLE_TRANSACTIONS"], sum},
		{r.prefix, "ThrottledRequests", "", "", sum},
	})
	if err != nil {
		return nil, err
	}
	out := []throttleOutput{{What: "functions of the account"}, {What: "reads of batches"}, {What: "writes of batches"},
		{What: "writes of transactions"}, {What: "requests to the API"}}
	for i := range out {
		for _, v := range values[i] {
			out[i].Requests += int64(v)
		}
	}
	return out, nil
}

// metricQuery names a metric, by one dimension unless that is "".
type metricQuery struct{ namespace, name, dimension, value, statistic string }

// metricValues returns the values that metrics had in the periods of five minutes since some time ago, the latest
// first.
func (r *statusReader) metricValues(ctx context.Context, within time.Duration, queries []metricQuery) ([][]float64,
	error) {
	in := &cloudwatch.GetMetricDataInput{StartTime: aws.Time(r.now.Add(-within)), EndTime: &r.now,
		ScanBy: types.ScanByTimestampDescending}
	for i, q := range queries {
		m := &types.Metric{Namespace: &q.namespace, MetricName: &q.name}
		if q.dimension != "" {
			m.Dimensions = []types.Dimension{{Name: &q.dimension, Value: &q.value}}
		}
		in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{Id: aws.String(fmt.Sprint("m", i)),
			MetricStat: &types.MetricStat{Metric: m, Period: aws.Int32(300), Stat: &q.statistic}})
	}
	values := make([][]float64, len(queries))
	pages := cloudwatch.NewGetMetricDataPaginator(cloudwatch.NewFromConfig(r.aws), in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, result := range page.MetricDataResults {
			i, err := strconv.Atoi(strings.TrimPrefix(aws.ToString(result.Id), "m"))
			if err != nil || i < 0 || i >= len(values) {
				return nil, fmt.Errorf("CloudWatch answers for the unknown metric %q", aws.ToString(result.Id))
			}
			values[i] = append(values[i], result.Values...)
		}
	}
	return values, nil
}
