package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jmespath/go-jmespath"
	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

// The annotations of commands that AddFormats looks at.
const (
	alwaysJSON = "always-json"
	endless    = "endless"
)

// AlwaysJSON marks a command that prints JSON without being asked to.
func AlwaysJSON(c *cobra.Command) { annotate(c, alwaysJSON) }

// Endless marks a command that prints until it is interrupted, so that nothing can be selected of all that it prints.
func Endless(c *cobra.Command) { annotate(c, endless) }

func annotate(c *cobra.Command, name string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[name] = "true"
}

// AddFormats gives --output and --query to a command and to those below it, as far as they print JSON.
func AddFormats(c *cobra.Command) {
	for _, sub := range c.Commands() {
		AddFormats(sub)
	}
	isAlways, canBe := c.Annotations[alwaysJSON] != "", c.Flags().Lookup("json") != nil
	if c.RunE == nil || c.Annotations[endless] != "" || c.Flags().Lookup("output") != nil || !isAlways && !canBe {
		return
	}
	f := &format{run: c.RunE, isAlways: isAlways}
	natural := "table, or json with --query"
	if isAlways {
		natural = "json"
	}
	c.Flags().StringVar(&f.output, "output", "", "print a `FORMAT`: table, csv or json (default "+natural+")")
	c.Flags().StringVar(&f.query, "query", "",
		"print what the JMESPath `EXPRESSION` selects of the JSON, such as [].batch_id of a list (jmespath.org)")
	command.Values(c, "output", "table", "csv", "json")
	c.RunE = f.runCommand
}

// format is how a command prints what its function prints as JSON.
type format struct {
	run      func(*cobra.Command, []string) error
	isAlways bool
	// output and query are the flags, output in its default "" until check has replaced it.
	output, query string
	expression    *jmespath.JMESPath
}

// check reports flags that cannot be, and completes the others.
func (f *format) check(c *cobra.Command) error {
	json := c.Flags().Lookup("json")
	switch isJSON := json != nil && json.Value.String() == "true"; {
	case f.output != "" && !slices.Contains([]string{"table", "csv", "json"}, f.output):
		return command.Usagef("--output is table, csv or json, not %q", f.output)
	case isJSON && f.output != "" && f.output != "json":
		return command.Usagef("give either --json or --output %s", f.output)
	case f.output == "" && (isJSON || f.isAlways || f.query != ""):
		f.output = "json"
	case f.output == "":
		f.output = "table"
	}
	watch := c.Flags().Lookup("watch")
	if (f.query != "" || f.output == "csv") && watch != nil && watch.Changed {
		return command.Usagef("--query and --output csv print when the command has ended; leave out --watch")
	}
	if f.query == "" {
		return nil
	}
	var err error
	if f.expression, err = jmespath.Compile(f.query); err != nil {
		return command.Usagef("--query %q is no JMESPath expression: %w", f.query, err)
	}
	return nil
}

// runCommand runs the command and prints its output in the format. Output of a command that fails is printed, too.
func (f *format) runCommand(c *cobra.Command, args []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	out := c.OutOrStdout()
	if f.output == "json" && terminal.New(out).Tty != nil {
		out = &escaper{w: out}
	}
	defer c.SetOut(nil) // that of the program again
	isPlain := f.query == "" && (f.output == "json" || f.output == "table" && !f.isAlways)
	if f.output != "table" || !isPlain {
		if flag := c.Flags().Lookup("json"); flag != nil {
			if err := c.Flags().Set("json", "true"); err != nil {
				return err
			}
		}
	}
	if isPlain {
		c.SetOut(out)
		return f.run(c, args)
	}
	var r recorder
	c.SetOut(&r)
	err := f.run(c, args)
	if r.Len() == 0 && !r.isList {
		return err
	}
	return errors.Join(f.print(out, &r), err)
}

// recorder collects what a command prints.
type recorder struct {
	bytes.Buffer
	// isList means that the command prints a list, one element a line.
	isList bool
}

// print writes what a command has printed as JSON.
func (f *format) print(out io.Writer, r *recorder) error {
	printed := r.Bytes()
	if r.isList {
		printed = append(append([]byte("["), bytes.Join(bytes.Split(bytes.TrimSpace(printed), []byte("\n")),
			[]byte(","))...), ']')
	}
	if f.expression != nil {
		var value any
		if err := json.Unmarshal(printed, &value); err != nil {
			return fmt.Errorf("the output is not JSON: %w", err)
		}
		selected, err := f.expression.Search(value)
		if err != nil {
			return command.Usagef("--query %q: %w", f.query, err)
		}
		if f.output == "json" {
			return PrintJSON(out, selected)
		}
		if printed, err = json.Marshal(selected); err != nil {
			return err
		}
	}
	rows, err := newRows(printed)
	if err != nil {
		return fmt.Errorf("the output is not JSON: %w", err)
	}
	if f.output == "csv" {
		return csv.NewWriter(out).WriteAll(rows)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = linefile.Printable(cell)
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// newRows returns JSON as the rows of a table: one for each element of an array, and one for anything else but null.
// Objects have a column for each of their members, named in the first row, in the order in which they come; members of
// their members have names with dots. Arrays inside an array are rows without names.
func newRows(printed []byte) ([][]string, error) {
	var list []json.RawMessage
	if bytes.HasPrefix(printed, []byte("[")) {
		if err := json.Unmarshal(printed, &list); err != nil {
			return nil, err
		}
	} else if string(printed) != "null" {
		list = []json.RawMessage{printed}
	}
	var columns []string
	var rows [][]string
	for _, element := range list {
		var row []string
		add := func(name, text string) {
			i := slices.Index(columns, name)
			if i < 0 {
				i, columns = len(columns), append(columns, name)
			}
			row = append(row, make([]string, max(i+1-len(row), 0))...)
			row[i] = text
		}
		var cells []json.RawMessage
		switch {
		case bytes.HasPrefix(element, []byte("{")):
			if err := addMembers("", element, add); err != nil {
				return nil, err
			}
		case json.Unmarshal(element, &cells) == nil && cells != nil:
			for _, cell := range cells {
				row = append(row, cellText(cell))
			}
		default:
			row = []string{cellText(element)}
		}
		rows = append(rows, row)
	}
	if columns == nil {
		return rows, nil
	}
	for i := range rows {
		rows[i] = append(rows[i], make([]string, max(len(columns)-len(rows[i]), 0))...)
	}
	return append([][]string{columns}, rows...), nil
}

// addMembers calls add for each member of an object, and of objects in it, in their order.
func addMembers(prefix string, object json.RawMessage, add func(name, text string)) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		path := prefix + name.(string)
		if !bytes.HasPrefix(value, []byte("{")) {
			add(path, cellText(value))
		} else if err := addMembers(path+".", value, add); err != nil {
			return err
		}
	}
	return nil
}

// cellText returns a value of JSON as the text of a cell: "" for null, a string without quotation marks.
func cellText(value json.RawMessage) string {
	var text string
	if err := json.Unmarshal(value, &text); err == nil {
		return text // null leaves it empty
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return string(value)
	}
	return compact.String()
}
