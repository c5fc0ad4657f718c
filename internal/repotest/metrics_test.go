package repotest

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/cost"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/metric"
)

// Each metric of an alarm or the dashboard is one that the code writes, that a filter takes from the log, or that AWS
// documents, by the dimensions by which there are values. A metric that is renamed would leave an alarm without data.
func TestNamedMetricsExist(t *testing.T) {
	filtered := map[string]bool{}
	for _, r := range metricResources(t) {
		for _, f := range r.Filters {
			difftest.Equal(t, "a filter writes "+f.Name+" to the namespace", ownNamespace, f.Namespace)
			filtered[f.Name] = true
		}
	}
	named := namedMetrics(t)
	if len(named) < 100 {
		t.Fatalf("found %d metrics, want 100 or more", len(named))
	}
	shown, functions := map[string]bool{}, loadTemplate(t).functions(t)
	for _, m := range named {
		by := slices.Sorted(maps.Keys(m.dimensions))
		var known [][]string
		switch service, isAWS := awsMetrics[m.namespace]; {
		case m.namespace == ownNamespace && filtered[m.name]:
			known = [][]string{{}}
		case m.namespace == ownNamespace:
			for _, set := range metric.DimensionsOf(metric.Name(m.name)) {
				names := []string{}
				for _, d := range set {
					names = append(names, string(d))
				}
				known = append(known, names)
			}
		case isAWS && slices.Contains(service.names, m.name):
			known = service.by
		}
		if !slices.ContainsFunc(known, func(set []string) bool { return slices.Equal(set, by) }) {
			t.Errorf("%s: there are no values of %s %s by %v", m.place, m.namespace, m.name, by)
		}
		shown[m.name] = true
		checkDimensions(t, m, functions)
	}
	for name := range filtered {
		if !shown[name] {
			t.Errorf("the metric %s is taken from the log, which costs money, and not looked at", name)
		}
	}
}

// checkDimensions checks the values of dimensions that the repository determines.
func checkDimensions(t *testing.T, m namedMetric, functions map[string]function) {
	t.Helper()
	for name, value := range m.dimensions {
		isKnown := true
		switch name {
		case "Step":
			isKnown = slices.Contains(stringConstantsOfType(packageIn(t, "shared/kit/metric"), "Step"), value)
		case "Outcome":
			isKnown = slices.Contains([]metric.Outcome{metric.OK, metric.Failed, metric.Over, metric.Pending},
				metric.Outcome(value))
		case "Status":
			isKnown = slices.Contains(batch.Statuses(), batch.Status(value)) && !batch.Status(value).IsTerminal()
		case "FunctionName":
			function, hasPrefix := strings.CutPrefix(value, ownNamespace+"-")
			if hasPrefix {
				_, isKnown = functions[function]
			}
		}
		if !isKnown {
			t.Errorf("%s: no metric %s has the %s %q", m.place, m.name, name, value)
		}
	}
}

var operandName = regexp.MustCompile(`\b[a-z]\w*\b`)

// The dashboard shows every alarm, and its expressions name metrics of their widgets.
func TestDashboard(t *testing.T) {
	var alarms []string
	for _, w := range readDashboard(t, metricResources(t)["Dashboard"].Body).Widgets {
		p := w.Properties
		for _, arn := range p.Alarms {
			_, name, _ := strings.Cut(arn, ":alarm:${Prefix}-")
			alarms = append(alarms, name)
		}
		var expressions []string
		ids := map[string]bool{}
		for _, entry := range p.Metrics {
			var options struct{ ID, Expression string }
			if json.Unmarshal(entry[len(entry)-1], &options) == nil { // else a metric without options
				ids[options.ID] = true
				expressions = append(expressions, options.Expression)
			}
		}
		for _, operand := range operandName.FindAllString(strings.Join(expressions, " "), -1) {
			if !ids[operand] {
				t.Errorf("%s: %s is in an expression and is no metric of the widget", p.Title, operand)
			}
		}
	}
	slices.Sort(alarms)
	difftest.Equal(t, "alarms of the template and of the dashboard",
		slices.Sorted(maps.Keys(alarmSeverities(t))), alarms)
}

var decimal = regexp.MustCompile(`\b0\.\d+`)

// The estimate of the dashboard and the formula of docs/cost.md use the prices that 'sluice cost' has, and the page
// names their source.
func TestPricesOfTheDashboard(t *testing.T) {
	list := errtest.Must(cost.DefaultPrices())(t)
	p := list.Prices
	want := []float64{p.Write / 1e6, p.GuardDuty, p.GuardDutyObject / 1e3, p.LambdaSecond, p.Transition / 1e3}
	slices.Sort(want)
	page := string(readFile(t, "docs/cost.md"))
	_, rest, _ := strings.Cut(page, "\n## Formula\n")
	formula, _, _ := strings.Cut(rest, "\n## ")
	for where, text := range map[string]string{
		"the dashboard": metricResources(t)["Dashboard"].Body, "docs/cost.md, Formula": formula,
	} {
		var got []float64
		for _, found := range decimal.FindAllString(text, -1) {
			price := errtest.Must(strconv.ParseFloat(found, 64))(t)
			got = append(got, price)
		}
		slices.Sort(got)
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }) {
			t.Errorf("%s has the prices %v, and internal/cost/prices.json %v", where, got, want)
		}
	}
	if !strings.Contains(page, list.Source) {
		t.Errorf("docs/cost.md does not say %q", list.Source)
	}
}
