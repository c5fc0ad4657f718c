// Package policies has the commands about policies.
package policies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/policyfile"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

func Command() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "policy",
		Short: "write policies in files; check, compare, import, publish and evaluate them",
		Long: `
A policy says which fields the entities of one type have. As a file, in YAML or JSON, it can live in a repository.`,
		Example: `
sluice policy check sampledata/policies/company.yaml
sluice policy evaluate sampledata/policies/company.yaml --entity sampledata/policies/acme.yaml`,
		Annotations: command.Notes(
			"docs/policy.md explains the format of the files, and policies from the first one to its evaluation."),
	},
		checkPolicyCommand(), evaluatePolicyCommand(), diffPoliciesCommand(), importPolicyCommand(),
		publishPolicyCommand(), listPoliciesCommand(), exportPolicyCommand(),
	)
}

func checkPolicyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE...", Short: "check the form of policies, and that they can be evaluated",
		Long: `
Prints everything that is wrong: the file, the line, the field with the operand or rule, and what to do. Nothing leaves
the machine. The exit code is 1 if something is wrong.`,
		Example: "sluice policy check sampledata/policies/company.yaml sampledata/policies/individual.yaml",
		RunE: command.Run(func(ctx context.Context, paths []string, stdout io.Writer) error {
			ui := terminal.New(stdout)
			areWrong := false
			for _, path := range paths {
				file, _, err := compilePolicyFile(ctx, path)
				var wrong *policyfile.Error
				switch {
				case errors.As(err, &wrong):
					areWrong = true
					ui.Printf("%s\n", terminal.PrintableLines(wrong.Error()))
				case err != nil:
					return err
				default:
					ui.Printf("%s: %s\n", linefile.Printable(path), summarizeContents(file.Contents))
				}
			}
			if areWrong {
				return command.Rejected
			}
			return nil
		}),
	}
}

// summarizeContents says how much a policy has.
func summarizeContents(c policy.Contents) string {
	fields := int64(len(c.Fields))
	for _, g := range c.DataGroups {
		fields += int64(len(g.Fields))
	}
	return fmt.Sprintf("%s, %s, %s, %s", c.EntityType, terminal.CountOf(fields, "field"),
		terminal.CountOf(int64(len(c.DataGroups)), "data group"), terminal.CountOf(int64(len(c.Jurisdictions)),
			"jurisdiction"))
}

// readPolicyFile reads a policy from a file, or from standard input.
func readPolicyFile(ctx context.Context, path string) (*policyfile.File, error) {
	text, err := readFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return policyfile.Parse(path, text)
}

// readFile reads a file, or standard input, up to the size of the largest policy.
func readFile(ctx context.Context, path string) ([]byte, error) {
	file, err := files.OpenInput(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policyfile.MaxBytes+1))
}

// compilePolicyFile reads a policy and compiles it. The error is a *policyfile.Error if something is wrong with the
// policy.
func compilePolicyFile(ctx context.Context, path string) (*policyfile.File, *evaluate.Program, error) {
	file, err := readPolicyFile(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	program, err := evaluate.Compile(file.Contents)
	if problems := (evaluate.Problems)(nil); errors.As(err, &problems) {
		return nil, nil, file.Explain(problems)
	}
	return file, program, err
}

// explainFile says in the words of the command line that a file has problems.
func explainFile(err error) error {
	if wrong := new(policyfile.Error); errors.As(err, &wrong) {
		return fmt.Errorf("%s has %s:\n%s", linefile.Printable(wrong.Name),
			terminal.CountOf(int64(len(wrong.Problems)), "problem"),
			terminal.PrintableLines(wrong.Error()))
	}
	return err
}

func diffPoliciesCommand() *cobra.Command {
	var asJSON bool
	var conn service.Connection
	c := &cobra.Command{
		Use: "diff OLD_FILE NEW_FILE", Short: "print what turns one policy into another, field by field",
		Long: `
In place of a file, a version of the service can be named: an ID or a type of entities, @ and the number, such as
Company@3. Fields belong together if they have the same fieldId, or else the same data key, categories and
jurisdictions. The exit code is 0 if the policies are the same, 1 if they differ, 2 if they could not be compared.`,
		Example: `
sluice policy diff company.old.yaml company.yaml
sluice policy diff Company@2 Company@3`,
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			if err := files.RequireOneStdin(args...); err != nil {
				return err
			}
			var contents [2]policy.Contents
			for i, name := range args {
				var err error
				if contents[i], err = readPolicy(ctx, &conn, name); err != nil {
					return explainFile(err)
				}
			}
			c := policyfile.Compare(contents[0], contents[1])
			var err error
			if asJSON {
				err = output.PrintJSON(stdout, c)
			} else {
				printComparison(terminal.New(stdout), c)
			}
			if err == nil && !c.IsEmpty() {
				return command.Rejected
			}
			return err
		}),
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print the differences as JSON")
	conn.AddFlags(c)
	return c
}

// readPolicy reads a version of a policy from the service, or a policy from a file.
func readPolicy(ctx context.Context, conn *service.Connection, name string) (policy.Contents, error) {
	if ref, ok := parsePolicyRef(name); ok {
		c, err := conn.NewClient(ctx)
		if err != nil {
			return policy.Contents{}, err
		}
		return policyService{c}.readContents(ctx, ref)
	}
	file, err := readPolicyFile(ctx, name)
	if err != nil {
		return policy.Contents{}, err
	}
	return file.Contents, nil
}

// printComparison prints what turns one policy into another: a line for each thing that is added (+), deleted (-) or
// updated (~), and below it what is.
func printComparison(ui *terminal.Terminal, c policyfile.Comparison) {
	for _, d := range c.EntityType {
		printDifference(ui, d)
	}
	for _, kind := range []struct {
		name    string
		changes []policyfile.Change
	}{{"jurisdiction", c.Jurisdictions}, {"data group", c.DataGroups}, {"field", c.Fields}} {
		for _, change := range kind.changes {
			sign, color := "~", terminal.Bold
			switch change.Type {
			case policy.Added:
				sign, color = "+", terminal.Green
			case policy.Deleted:
				sign, color = "-", terminal.Red
			}
			ui.Printf("%s %s\n", ui.Paint(color, sign), nameOfChange(kind.name, change))
			for _, d := range change.Differences {
				printDifference(ui, d)
			}
		}
	}
}

// summarizeChanges says how much is changed.
func summarizeChanges(c policyfile.Comparison) string {
	return fmt.Sprintf("%s, %s and %s", terminal.CountOf(int64(len(c.Fields)), "field"),
		terminal.CountOf(int64(len(c.DataGroups)), "data group"), terminal.CountOf(int64(len(c.Jurisdictions)),
			"jurisdiction"))
}

// nameOfChange names what is changed.
func nameOfChange(kind string, c policyfile.Change) string {
	switch {
	case c.DataKey == "":
		return kind + " " + linefile.Printable(c.Name)
	case c.Group != "":
		return kind + " " + linefile.Printable(c.Group+"/"+c.DataKey)
	case c.Scope != "":
		return kind + " " + linefile.Printable(c.DataKey+" ("+c.Scope+")")
	}
	return kind + " " + linefile.Printable(c.DataKey)
}

func printDifference(ui *terminal.Terminal, d policyfile.Difference) {
	show := func(v any) string {
		if v == nil {
			return "nothing"
		}
		var out strings.Builder
		_ = output.EncodeLine(&out, v)
		return linefile.Printable(strings.TrimSuffix(out.String(), "\n"))
	}
	ui.Printf("    %s: %s -> %s\n", linefile.Printable(d.Path), show(d.Before), show(d.After))
}
