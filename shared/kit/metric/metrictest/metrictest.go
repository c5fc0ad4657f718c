// Package metrictest checks lines of a log against the rules of the embedded metric format
// (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html), as far
// as they concern one line. CloudWatch ignores the metrics of a line that breaks one of them.
package metrictest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The limits of the format.
const (
	maxLineBytes      = 256 << 10 // newer versions of the format allow 1 MB
	maxMetrics        = 100
	maxDimensions     = 30
	maxNameChars      = 1024
	maxDimensionChars = 250
	maxValueChars     = 1024
	maxAge            = 14 * 24 * time.Hour
	maxFuture         = 2 * time.Hour
)

// unitNames are the units of CloudWatch (API_MetricDatum).
var unitNames = strings.Fields(`Seconds Microseconds Milliseconds Bytes Kilobytes Megabytes Gigabytes Terabytes Bits
	Kilobits Megabits Gigabits Terabits Percent Count Bytes/Second Kilobytes/Second Megabytes/Second Gigabytes/Second
	Terabytes/Second Bits/Second Kilobits/Second Megabits/Second Gigabits/Second Terabits/Second Count/Second None`)

var namespacePattern = regexp.MustCompile(`^[0-9A-Za-z.\-_/#:]{1,255}$`)

// document is the part of a line that the format defines.
type document struct {
	Timestamp         *int64
	CloudWatchMetrics []struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []struct {
			Name              string
			Unit              *string
			StorageResolution *int
		}
	}
}

// Metric is one value that CloudWatch takes from a line: one for each set of dimensions.
type Metric struct {
	Namespace, Name, Unit string
	Dimensions            map[string]string
	Value                 float64
}

// IsRecord reports whether CloudWatch looks for metrics in a line.
func IsRecord(line []byte) bool { return bytes.Contains(line, []byte(`"_aws":`)) }

// Read returns the metrics of a line that was written at about the time now, or an error that names the first rule that
// it breaks.
func Read(line []byte, now time.Time) ([]Metric, error) {
	if len(line) > maxLineBytes {
		return nil, fmt.Errorf("the line has %d bytes", len(line))
	}
	var root map[string]json.RawMessage
	if err := json.Unmarshal(line, &root); err != nil {
		return nil, err
	}
	var head document
	strict := json.NewDecoder(bytes.NewReader(root["_aws"]))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&head); err != nil {
		return nil, fmt.Errorf("_aws: %w", err)
	}
	if head.Timestamp == nil {
		return nil, errors.New("_aws has no Timestamp")
	}
	if age := now.Sub(time.UnixMilli(*head.Timestamp)); age > maxAge || age < -maxFuture {
		return nil, fmt.Errorf("the Timestamp %d is %v old", *head.Timestamp, age)
	}
	if head.CloudWatchMetrics == nil {
		return nil, errors.New("_aws has no CloudWatchMetrics")
	}
	var found []Metric
	for _, d := range head.CloudWatchMetrics {
		if !namespacePattern.MatchString(d.Namespace) || strings.HasPrefix(d.Namespace, "AWS/") {
			return nil, fmt.Errorf("the Namespace is %q", d.Namespace)
		}
		if len(d.Metrics) == 0 || len(d.Metrics) > maxMetrics || len(d.Dimensions) == 0 {
			return nil, fmt.Errorf("%d metrics with %d sets of dimensions", len(d.Metrics), len(d.Dimensions))
		}
		for _, names := range d.Dimensions {
			dimensions, err := readDimensions(root, names)
			if err != nil {
				return nil, err
			}
			for _, m := range d.Metrics {
				value, err := readValue(root, m.Name)
				switch {
				case err != nil:
					return nil, err
				case m.Unit != nil && !slices.Contains(unitNames, *m.Unit):
					return nil, fmt.Errorf("metric %s has the unit %q", m.Name, *m.Unit)
				case m.StorageResolution != nil && *m.StorageResolution != 1 && *m.StorageResolution != 60:
					return nil, fmt.Errorf("metric %s has the resolution %d", m.Name, *m.StorageResolution)
				}
				unit := ""
				if m.Unit != nil {
					unit = *m.Unit
				}
				found = append(found, Metric{d.Namespace, m.Name, unit, dimensions, value})
			}
		}
	}
	return found, nil
}

// readDimensions returns the values of dimensions, which are members of the root.
func readDimensions(root map[string]json.RawMessage, names []string) (map[string]string, error) {
	if len(names) > maxDimensions {
		return nil, fmt.Errorf("%d dimensions", len(names))
	}
	out := map[string]string{}
	for _, name := range names {
		var value string
		if err := json.Unmarshal(root[name], &value); err != nil {
			return nil, fmt.Errorf("dimension %q has no string: %w", name, err)
		}
		if !hasChars(name, maxDimensionChars) || !hasChars(value, maxValueChars) {
			return nil, fmt.Errorf("dimension %q: %q", name, value)
		}
		out[name] = value
	}
	return out, nil
}

// readValue returns the value of a metric, which is a number in a member of the root. Lists of numbers are not used.
func readValue(root map[string]json.RawMessage, name string) (float64, error) {
	var value float64
	if !hasChars(name, maxNameChars) {
		return 0, fmt.Errorf("metric %q", name)
	}
	if err := json.Unmarshal(root[name], &value); err != nil || string(root[name]) == "null" {
		return 0, fmt.Errorf("metric %q has no number: %w", name, err)
	}
	return value, nil
}

// hasChars reports whether a text has one to limit characters, of ASCII as CloudWatch wants it.
func hasChars(text string, limit int) bool {
	isASCII := strings.IndexFunc(text, func(r rune) bool { return r > '~' || r < ' ' }) < 0
	return isASCII && text != "" && utf8.RuneCountInString(text) <= limit
}
