package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/local/capacity"
	"sluice/local/template"
)

// Limits says which limits of AWS the local cloud enforces. The zero value limits nothing.
type Limits struct {
	// Concurrency is the number of requests to functions that run at a time in the account; 0 for no limit.
	Concurrency int
	// Writes is the number of write units a second of tables by their names, with or without the prefix of the
	// deployment; allTables stands for all of them.
	Writes map[string]int
	// Partition is the number of write units a second of the items of any table that share a partition key; 0 for no
	// limit.
	Partition int
	// API makes the API throttle requests as the template says.
	API bool
}

// allTables is the name in Limits.Writes of all tables that it does not name.
const allTables = "*"

// errUnknownLimit lists the limits.
var errUnknownLimit = errors.New("the limits are concurrency=N, writes=TABLE:UNITS, partition=UNITS and api")

// Add adds a limit in the form of the command line: NAME or NAME=VALUE.
func (l *Limits) Add(text string) error {
	name, value, hasValue := strings.Cut(text, "=")
	switch {
	case name == "concurrency":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return errors.New("concurrency is a number of executions, 1 or more, such as concurrency=10")
		}
		l.Concurrency = n
	case name == "writes":
		table, units, _ := strings.Cut(value, ":")
		n, err := strconv.Atoi(units)
		if err != nil || n < 1 || table == "" {
			return errors.New("writes names a table and its write units a second, 1 or more, such as " +
				"writes=transactions:100; the table * stands for all others")
		}
		if l.Writes == nil {
			l.Writes = map[string]int{}
		}
		l.Writes[table] = n
	case name == "partition":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return errors.New("partition is the write units a second of one partition key, 1 or more, such as " +
				"partition=1000")
		}
		l.Partition = n
	case name == "api" && !hasValue:
		l.API = true
	case name == "api":
		return errors.New("api has no value: the figures are the parameters ThrottlingRate and ThrottlingBurst (--set)")
	default:
		return errUnknownLimit
	}
	return nil
}

// isSet reports whether there is a limit.
func (l *Limits) isSet() bool {
	return l.Concurrency > 0 || len(l.Writes) > 0 || l.Partition > 0 || l.API
}

// units returns the write units a second of a table, and the name that they were given for.
func (c *Cloud) units(t template.Table) (n int, givenFor string) {
	short := strings.TrimPrefix(t.Name, c.template.Parameters["Prefix"]+"-")
	for _, name := range []string{t.Name, short, allTables} {
		if n, ok := c.options.Limits.Writes[name]; ok {
			return n, name
		}
	}
	return 0, ""
}

// checkLimits returns an error if the limits do not fit the template.
func (c *Cloud) checkLimits(context.Context) error {
	unused := maps.Clone(c.options.Limits.Writes)
	var names []string
	for _, t := range c.template.Tables {
		_, givenFor := c.units(t)
		delete(unused, givenFor)
		names = append(names, strings.TrimPrefix(t.Name, c.template.Parameters["Prefix"]+"-"))
	}
	delete(unused, allTables)
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		return fmt.Errorf("--limit writes=%s:%d: there is no such table; the tables are %s", name, unused[name],
			strings.Join(names, ", "))
	}
	if c.options.Limits.API && (c.template.API.ThrottlingRate == 0 || c.template.API.ThrottlingBurst == 0) {
		return errors.New("--limit api: the template gives the API no ThrottlingRateLimit and ThrottlingBurstLimit")
	}
	return nil
}

// limitedTables returns the tables whose writes are limited.
func (c *Cloud) limitedTables() []capacity.Table {
	var out []capacity.Table
	for _, t := range c.template.Tables {
		if n, _ := c.units(t); n > 0 || c.options.Limits.Partition > 0 {
			out = append(out, capacity.Table{Name: t.Name, Units: float64(n), Provisioned: t.Provisioned,
				PartitionUnits: float64(c.options.Limits.Partition), PartitionKey: t.PartitionKey()})
		}
	}
	return out
}

// logThrottled writes a line of a request to a table of which nothing was left.
func (c *Cloud) logThrottled(table, operation string) {
	c.log.WriteLine(table, "", fmt.Appendf(nil, `{"type":"platform.throttled","operation":%q}`, operation))
}

// limitLines describes the limits, each in a line for the user.
func (c *Cloud) limitLines() []string {
	var out []string
	if n := c.options.Limits.Concurrency; n > 0 {
		reserved := 0
		for _, f := range c.template.Functions {
			reserved += f.Concurrency
		}
		out = append(out, fmt.Sprintf("%d concurrent executions of functions, %d of them reserved", n, reserved))
	}
	for _, t := range c.template.Tables {
		if n, givenFor := c.units(t); n > 0 && givenFor != allTables {
			out = append(out, fmt.Sprintf("%d write units a second of the table %s and of each of its indexes", n,
				t.Name))
		}
	}
	if n := c.options.Limits.Writes[allTables]; n > 0 {
		out = append(out, fmt.Sprintf("%d write units a second of each other table and of each of its indexes", n))
	}
	if n := c.options.Limits.Partition; n > 0 {
		out = append(out, fmt.Sprintf("%d write units a second of each partition key of a table", n))
	}
	if c.options.Limits.API {
		out = append(out, fmt.Sprintf("%g requests a second to each route of the API, %g at once",
			c.template.API.ThrottlingRate, c.template.API.ThrottlingBurst))
	}
	return out
}
