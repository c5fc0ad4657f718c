package cloud

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits are those of AWS that the local cloud has, too. The zero value is no limit at all.
type Limits struct {
	// Concurrency is the number of requests to functions that run at a time in the account; 0 for no limit.
	Concurrency int
}

// Add adds a limit in the form of the command line, NAME=VALUE.
func (l *Limits) Add(text string) error {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "concurrency":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("concurrency is a number of executions, 1 or more, such as concurrency=10")
		}
		l.Concurrency = n
	default:
		return fmt.Errorf("there is no limit %q; want concurrency=N", name)
	}
	return nil
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
	return out
}
