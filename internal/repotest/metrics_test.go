package repotest

import (
	"encoding/json"
	"go/types"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/cost"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/metric"
)

// Each metric of an alarm or the dashboard is one that the code writes, that a filter takes from the log, or that AWS
// documents, by the dimensions by which there are values. A metric that is renamed would leave an alarm without data.
func TestNamedMetricsExist(t *testing.T) {
	filtered := map[string]bool{}
	for _, r := range metricResources(t) {
		for _, f := range r.Filters {
			if f.Namespace != ownNamespace {
				t.Errorf("a filter writes %s to the namespace %s", f.Name, f.Namespace)
			}
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
			isKnown = slices.Contains(stepNames(t), value)
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

// stepNames returns the values of type metric.Step.
func stepNames(t *testing.T) []string {
	t.Helper()
	for _, p := range modulePackages(t) {
		if folderOf(p) == "shared/kit/metric" {
			return stringConstantsOfType(p, "Step")
		}
	}
	t.Fatal("the package shared/kit/metric is not found")
	return nil
}

// Each metric, step and outcome that package metric names is used by the code that measures.
func TestMetricsAreWritten(t *testing.T) {
	used, defined := map[types.Object]bool{}, map[string]types.Object{}
	byName := map[string]bool{}
	for _, p := range modulePackages(t) {
		if folderOf(p) == "shared/kit/metric" {
			for _, name := range p.Types.Scope().Names() {
				if c, ok := p.Types.Scope().Lookup(name).(*types.Const); ok {
					defined[name] = c
				}
			}
			// What a run measures by itself.
			for identifier, object := range p.TypesInfo.Uses {
				file := p.Fset.Position(identifier.Pos()).Filename
				used[object] = used[object] || strings.HasSuffix(file, "run.go")
			}
			continue
		}
		for identifier, object := range p.TypesInfo.Uses {
			if object.Pkg() != nil && object.Pkg().Path() == modulePath+"/shared/kit/metric" {
				byName[identifier.Name] = true
			}
		}
	}
	if len(defined) < 25 {
		t.Fatalf("found %d constants of package metric, want 25 or more", len(defined))
	}
	for name, object := range defined {
		if !used[object] && !byName[name] {
			t.Errorf("nothing writes metric.%s", name)
		}
	}
}

// The dashboard has the form that CloudWatch accepts, on a grid of 24 columns, and shows every alarm.
func TestDashboard(t *testing.T) {
	body := metricResources(t)["Dashboard"].Body
	var alarms []string
	taken := map[[2]int]string{}
	for _, w := range readDashboard(t, body).Widgets {
		p := w.Properties
		if w.Width < 1 || w.Height < 1 || w.X < 0 || w.X+w.Width > 24 {
			t.Errorf("%s: the widget is outside of the grid", p.Title)
		}
		for x := w.X; x < w.X+w.Width; x++ {
			for y := w.Y; y < w.Y+w.Height; y++ {
				if other, isTaken := taken[[2]int{x, y}]; isTaken {
					t.Fatalf("%q and %q overlap", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		switch w.Type {
		case "metric":
			if p.Region != "${AWS::Region}" || p.Title == "" || len(p.Metrics) == 0 || len(p.Metrics) > 500 {
				t.Errorf("%s: want a title, the region, and 1 to 500 metrics", p.Title)
			}
			checkExpressions(t, p.Title, p.Metrics)
		case "alarm":
			for _, arn := range p.Alarms {
				_, name, _ := strings.Cut(arn, ":alarm:${Prefix}-")
				alarms = append(alarms, name)
			}
		case "text":
		default:
			t.Errorf("unknown type of widget %q", w.Type)
		}
	}
	var want []string
	for _, name := range alarmName.FindAllStringSubmatch(string(readFile(t, "template.yaml")), -1) {
		want = append(want, name[1])
	}
	slices.Sort(want)
	slices.Sort(alarms)
	if !slices.Equal(alarms, want) {
		t.Errorf("the dashboard shows the alarms\n%q, want\n%q", alarms, want)
	}
}

var operandName = regexp.MustCompile(`\b[a-z]\w*\b`)

// checkExpressions checks that the expressions of a widget name metrics of the widget, each of which has a name of its
// own.
func checkExpressions(t *testing.T, title string, metrics [][]json.RawMessage) {
	t.Helper()
	var expressions []string
	ids := map[string]bool{}
	for _, entry := range metrics {
		var options struct{ ID, Expression string }
		if err := json.Unmarshal(entry[len(entry)-1], &options); err != nil {
			continue // a metric without options
		}
		if options.ID != "" && ids[options.ID] {
			t.Errorf("%s: two metrics have the ID %s", title, options.ID)
		}
		ids[options.ID] = true
		expressions = append(expressions, options.Expression)
	}
	for _, expression := range expressions {
		for _, operand := range operandName.FindAllString(expression, -1) {
			if !ids[operand] {
				t.Errorf("%s: the expression %s names %s, which is no metric of the widget", title, expression, operand)
			}
		}
	}
}

var decimal = regexp.MustCompile(`\b0\.\d+`)

// The estimate of the dashboard and the formula of docs/cost.md use the prices that 'sluice cost' has.
func TestPricesOfTheDashboard(t *testing.T) {
	list, err := cost.DefaultPrices()
	errtest.Fatal(t, err)
	p := list.Prices
	want := []float64{p.Write / 1e6, p.GuardDuty, p.GuardDutyObject / 1e3, p.LambdaSecond, p.Transition / 1e3}
	slices.Sort(want)
	_, rest, _ := strings.Cut(string(readFile(t, "docs/cost.md")), "\n## Formula\n")
	formula, _, _ := strings.Cut(rest, "\n## ")
	for where, text := range map[string]string{
		"the dashboard": metricResources(t)["Dashboard"].Body, "docs/cost.md, Formula": formula,
	} {
		var got []float64
		for _, found := range decimal.FindAllString(text, -1) {
			price, err := strconv.ParseFloat(found, 64)
			errtest.Fatal(t, err)
			got = append(got, price)
		}
		slices.Sort(got)
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }) {
			t.Errorf("%s has the prices %v, and internal/cost/prices.json %v", where, got, want)
		}
	}
}

// docs/cost.md says of the prices what their file says.
func TestSourceOfThePrices(t *testing.T) {
	list, err := cost.DefaultPrices()
	errtest.Fatal(t, err)
	if text := string(readFile(t, "docs/cost.md")); !strings.Contains(text, list.Source) {
		t.Errorf("docs/cost.md does not say %q", list.Source)
	}
}

// Each entry of the runbook is that of an alarm.
func TestRunbooksHaveAlarms(t *testing.T) {
	template := string(readFile(t, "template.yaml"))
	var entries []string
	for _, page := range runbookPages(t) {
		entries = append(entries, runbookEntries(t, page)...)
	}
	if len(entries) < 20 {
		t.Fatalf("found %d entries of the runbook, want 20 or more", len(entries))
	}
	for _, entry := range entries {
		if !strings.Contains(template, `AlarmName: !Sub "${Prefix}-`+entry+`"`) {
			t.Errorf("the runbook has an entry %s, and the template no such alarm", entry)
		}
	}
}
