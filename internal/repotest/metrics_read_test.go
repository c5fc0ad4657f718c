package repotest

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"sluice/shared/kit/errtest"
)

// ownNamespace is the namespace of the service's own metrics, as the template has it.
const ownNamespace = "${Prefix}"

// awsMetrics are the metrics of AWS that the template may name, by namespace, and the sets of dimensions by which the
// service publishes them, as its documentation lists them (docs.aws.amazon.com, "CloudWatch metrics" of each service).
var awsMetrics = map[string]struct {
	names []string
	by    [][]string
}{
	"AWS/ApiGateway": {[]string{"4XXError", "5XXError", "Count", "IntegrationLatency", "Latency"},
		[][]string{{"ApiName"}, {"ApiName", "Stage"}}},
	"AWS/DynamoDB": {[]string{"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents",
		"WriteThrottleEvents"}, [][]string{{"TableName"}, {"GlobalSecondaryIndexName", "TableName"}}},
	"AWS/Firehose": {[]string{"DeliveryToS3.DataFreshness"}, [][]string{{"DeliveryStreamName"}}},
	"AWS/Lambda": {[]string{"AsyncEventAge", "AsyncEventsDropped", "ConcurrentExecutions", "DeadLetterErrors",
		"Duration", "Errors", "Invocations", "Throttles"}, [][]string{{}, {"FunctionName"},
		{"FunctionName", "Resource"}}},
	"AWS/Logs": {[]string{"EMFParsingErrors", "EMFValidationErrors"}, [][]string{{"LogGroupName"}}},
	"AWS/SQS": {[]string{"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"},
		[][]string{{"QueueName"}}},
	"AWS/States": {[]string{"ExecutionThrottled", "ExecutionTime", "ExecutionsAborted", "ExecutionsFailed",
		"ExecutionsStarted", "ExecutionsSucceeded", "ExecutionsTimedOut"}, [][]string{{"StateMachineArn"}}},
	"AWS/Events": {[]string{"FailedInvocations", "Invocations", "MatchedEvents", "TriggeredRules"},
		[][]string{{"RuleName"}}},
}

// namedMetric is a metric that an alarm or the dashboard names.
type namedMetric struct {
	// place is where it is named.
	place, namespace, name string
	dimensions             map[string]string
}

// metricResource is the properties that these tests read of alarms, filters and the dashboard.
type metricResource struct {
	Namespace  string               `yaml:"Namespace"`
	MetricName string               `yaml:"MetricName"`
	Dimensions []metricDimension    `yaml:"Dimensions"`
	Metrics    []metricDataQuery    `yaml:"Metrics"`
	Filters    []metricOfLogsFilter `yaml:"MetricTransformations"`
	Body       string               `yaml:"DashboardBody"`
}

type metricDimension struct {
	Name  string `yaml:"Name"`
	Value string `yaml:"Value"`
}

type metricOfLogsFilter struct {
	Namespace string `yaml:"MetricNamespace"`
	Name      string `yaml:"MetricName"`
}

type metricDataQuery struct {
	Stat struct {
		Metric struct {
			Namespace  string            `yaml:"Namespace"`
			MetricName string            `yaml:"MetricName"`
			Dimensions []metricDimension `yaml:"Dimensions"`
		} `yaml:"Metric"`
	} `yaml:"MetricStat"`
}

// metricResources returns the resources of the template that name metrics, by their IDs.
func metricResources(t *testing.T) map[string]metricResource {
	t.Helper()
	return propertiesOf[metricResource](t, loadTemplate(t), "AWS::CloudWatch::Alarm", "AWS::Logs::MetricFilter",
		"AWS::CloudWatch::Dashboard")
}

// namedMetrics returns the metrics that alarms and the dashboard name.
func namedMetrics(t *testing.T) []namedMetric {
	t.Helper()
	var out []namedMetric
	add := func(place, namespace, name string, dimensions []metricDimension) {
		m := namedMetric{place, namespace, name, map[string]string{}}
		for _, d := range dimensions {
			m.dimensions[d.Name] = d.Value
		}
		out = append(out, m)
	}
	for id, p := range metricResources(t) {
		switch {
		case p.Body != "":
			out = append(out, dashboardMetrics(t, p.Body)...)
		case p.MetricName != "":
			add(id, p.Namespace, p.MetricName, p.Dimensions)
		}
		for _, q := range p.Metrics {
			if m := q.Stat.Metric; m.MetricName != "" {
				add(id, m.Namespace, m.MetricName, m.Dimensions)
			}
		}
	}
	return out
}

// dashboard is the body of a dashboard
// (docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html).
type dashboard struct {
	Widgets []struct {
		Properties struct {
			Title   string
			Alarms  []string
			Metrics [][]json.RawMessage
		}
	}
}

// numberOfParameter matches a parameter of the template in the place of a number.
var numberOfParameter = regexp.MustCompile(`"value":\$\{\w+\}`)

func readDashboard(t *testing.T, body string) dashboard {
	t.Helper()
	var d dashboard
	body = numberOfParameter.ReplaceAllString(body, `"value":1`)
	errtest.Fatal(t, json.Unmarshal([]byte(body), &d))
	return d
}

// dashboardMetrics returns the metrics of a dashboard, without its expressions.
func dashboardMetrics(t *testing.T, body string) []namedMetric {
	t.Helper()
	var out []namedMetric
	for _, w := range readDashboard(t, body).Widgets {
		for _, entry := range w.Properties.Metrics {
			var texts []string
			for _, part := range entry {
				var text string
				if json.Unmarshal(part, &text) == nil {
					texts = append(texts, text)
				}
			}
			if len(texts) == 0 {
				continue
			}
			if len(texts)%2 != 0 {
				t.Fatalf("%s: %v is not a namespace, a name, and pairs", w.Properties.Title, texts)
			}
			m := namedMetric{w.Properties.Title, texts[0], texts[1], map[string]string{}}
			for pair := range slices.Chunk(texts[2:], 2) {
				m.dimensions[pair[0]] = pair[1]
			}
			out = append(out, m)
		}
	}
	return out
}
