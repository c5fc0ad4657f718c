package policies

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/shared/access"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

func evaluatePolicyCommand() *cobra.Command {
	var e evaluation
	c := &cobra.Command{
		Use: "evaluate [FILE]", Short: "evaluate a policy for an entity, on this machine or by the service",
		Long: `
Prints the fields that the entity has, with their values and what is wrong with those. FILE is evaluated on this
machine, as the service evaluates it; without FILE, --policy names a policy of the service.

The entity is a file with "properties" and, if conditions read them, "dataSources" (docs/policy.md shows both). In place
of an entity, --request names the body of a request of the interface. The jurisdictions are those whose conditions are
met, or those that --jurisdiction names. The exit code is 1 if something is wrong with a value.`,
		Example: `
sluice policy evaluate sampledata/policies/company.yaml --entity sampledata/policies/acme.yaml
sluice policy evaluate company.yaml --entity acme.json --layers Global:Compliance --explain
sluice policy evaluate --policy Company --version 3 --request request.json --normalized --json`,
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			e.ui = terminal.New(stdout)
			return e.run(ctx, args, stdout)
		}),
	}
	e.addFlags(c)
	return c
}

// evaluation is one run of the command that evaluates a policy.
type evaluation struct {
	// policy and version name what the service evaluates.
	policy  string
	version int64
	conn    service.Connection
	ui      *terminal.Terminal
	// names are those of the conditions of a FILE.
	names map[[2]string]string
	// entity and request are files, of which one is given.
	entity, request           string
	categories, jurisdictions []string
	target, layers            string
	filterLayers, skipValues  bool
	explain                   bool
	// normalized and readOnly are forms of the result.
	normalized, readOnly, asJSON bool
}

func (e *evaluation) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&e.policy, "policy", "", "`POLICY` of the service: an ID or a type of entities")
	f.Int64Var(&e.version, "version", 0, "`NUMBER` of the version of --policy (default the published one)")
	f.StringVar(&e.entity, "entity", "", "`FILE` with the entity, in JSON or YAML; - is standard input")
	f.StringVar(&e.request, "request", "", "`FILE` with the request, in JSON; - is standard input")
	f.StringArrayVar(&e.categories, "category", nil, "only fields of the `CATEGORY`; can be repeated (default all)")
	f.StringArrayVar(&e.jurisdictions, "jurisdiction", nil, "only fields of the jurisdiction `NAME`; can be repeated")
	f.StringVar(&e.target, "target", "", "`TARGET`: Client or Related Party (default that of the entity, or both)")
	f.StringVar(&e.layers, "layers", "",
		"access `LAYERS` with which a FILE is evaluated: geographic ones, a colon, business-related ones "+
			"(default Global:Enterprise)")
	f.BoolVar(&e.filterLayers, "filter-layers", false, "leave out fields whose layers the caller lacks")
	f.BoolVar(&e.skipValues, "skip-values", false, "no default, conditional and calculated values")
	f.BoolVar(&e.explain, "explain", false, "print the conditions that decided")
	f.BoolVar(&e.normalized, "normalized", false, "with --json: each distinct field of a collection once")
	f.BoolVar(&e.readOnly, "read-only", false, "only what is displayed, filtered by layers; normalized with --json")
	f.BoolVar(&e.asJSON, "json", false, "print the data of the reply as JSON and nothing else")
	e.conn.AddFlags(c)
	command.Values(c, "policy", policy.EntityTypes...)
	command.Values(c, "target", policy.TargetEntities...)
}

func (e *evaluation) run(ctx context.Context, args []string, stdout io.Writer) error {
	if err := e.check(args); err != nil {
		return err
	}
	in, err := e.readInput(ctx)
	if err != nil {
		return explainFile(err)
	}
	if e.policy != "" {
		c, err := e.conn.NewClient(ctx)
		if err != nil {
			return err
		}
		return e.runRemote(ctx, policyService{c}, in, stdout)
	}
	file, program, err := compilePolicyFile(ctx, args[0])
	if err != nil {
		return explainFile(err)
	}
	if err := e.findNames(&in, file.Contents); err != nil {
		return err
	}
	r := in.request()
	e.names = namesOfConditions(file.Contents)
	r.Explain, r.Now = e.explain, time.Now()
	if r.Layers, err = parseLayers(e.layers); err != nil {
		return err
	}
	if e.readOnly {
		r = r.ForReadOnly()
	}
	result, err := program.Evaluate(ctx, r, nil)
	if err != nil {
		return err
	}
	return e.print(stdout, in, result)
}

// print prints a result that was evaluated on this machine.
func (e *evaluation) print(stdout io.Writer, in evaluationInput, result evaluate.Result) error {
	switch {
	case e.readOnly:
		out, err := evaluate.ReadOnly(result, maxResultBytes)
		if err == nil && e.asJSON {
			return output.PrintJSON(stdout, out)
		}
		return errors.Join(err, e.finish(in, plainOf(out)))
	case e.normalized:
		out, err := evaluate.Normalize(result, maxResultBytes)
		if err == nil {
			err = output.PrintJSON(stdout, out)
		}
		return errors.Join(err, exitCodeOf(result))
	case e.asJSON:
		return errors.Join(output.PrintJSON(stdout, result), exitCodeOf(result))
	}
	return e.finish(in, result)
}

// maxResultBytes bounds the distinct fields of a normalized result. What a machine can evaluate, it can print.
const maxResultBytes = 1 << 30

// finish prints a result for people.
func (e *evaluation) finish(in evaluationInput, result evaluate.Result) error {
	p := resultPrinter{ui: e.ui, properties: in.Properties, isReadOnly: e.readOnly, names: e.names}
	p.print(result)
	return exitCodeOf(result)
}

// exitCodeOf returns the exit code of an evaluation: that something is wrong, or nil.
func exitCodeOf(result evaluate.Result) error {
	if countErrors(result) > 0 {
		return command.Rejected
	}
	return nil
}

// runRemote has the service evaluate a version.
func (e *evaluation) runRemote(ctx context.Context, s policyService, in evaluationInput, stdout io.Writer) error {
	p, number, err := s.resolve(ctx, policyRef{e.policy, e.version})
	if err != nil {
		return err
	}
	if len(in.Jurisdictions) > 0 || len(e.categories) > 0 {
		v, err := s.readVersion(ctx, p, number)
		if err != nil {
			return err
		}
		if err := e.findNames(&in, v.contents); err != nil {
			return err
		}
	}
	form, data := client.EvaluatePlain, any(in)
	switch {
	case e.readOnly:
		form, data = client.EvaluateReadOnly, in.entityInput
	case e.normalized:
		form = client.EvaluateNormalized
	}
	reply, err := s.EvaluatePolicy(ctx, p.EntityPolicyID, number, form, e.explain, data)
	if err != nil {
		return err
	}
	return e.printReply(stdout, in, reply)
}

// PrintReply prints a reply of the service.
func (e *evaluation) printReply(stdout io.Writer, in evaluationInput, reply []byte) error {
	if e.asJSON {
		if err := output.PrintReply(stdout, reply); err != nil || e.readOnly {
			return err
		}
	}
	if e.readOnly {
		var out evaluate.ReadOnlyResult
		err := json.Unmarshal(reply, &out)
		return errors.Join(err, e.finish(in, plainOf(out)))
	}
	if e.normalized {
		var out evaluate.NormalizedResult
		err := json.Unmarshal(reply, &out)
		return errors.Join(err, exitCodeOf(distinctOf(out)))
	}
	var result evaluate.Result
	if err := json.Unmarshal(reply, &result); err != nil {
		return err
	}
	if e.asJSON {
		return exitCodeOf(result)
	}
	return e.finish(in, result)
}

// check reports flags that exclude each other.
func (e *evaluation) check(args []string) error {
	switch {
	case (len(args) == 0) == (e.policy == ""):
		return command.Usagef("give one of FILE and --policy")
	case e.policy == "" && e.version != 0, e.policy != "" && e.layers != "":
		return command.Usagef("--version belongs to --policy, and --layers to FILE: a token has layers of its own")
	case (e.entity == "") == (e.request == ""):
		return command.Usagef("give one of --entity and --request")
	case e.request != "" && e.hasRequestFlags():
		return command.Usagef("a --request says itself what is evaluated: leave the flags out that do")
	case e.normalized && !e.asJSON:
		return command.Usagef("--normalized is a form of the JSON: add --json")
	}
	return files.RequireOneStdin(append(args, e.entity, e.request)...)
}

// hasRequestFlags reports whether there are flags for what a --request contains.
func (e *evaluation) hasRequestFlags() bool {
	return e.categories != nil || e.jurisdictions != nil || e.target != "" || e.filterLayers || e.skipValues
}

// parseLayers reads access layers as --layers has them.
func parseLayers(text string) (access.Layers, error) {
	if text == "" {
		return access.Layers{}.OrDefault(), nil
	}
	geographic, business, found := strings.Cut(text, ":")
	if !found {
		return access.Layers{}, command.Usagef(
			"--layers is GEOGRAPHIC:BUSINESS, such as Global:Enterprise,Compliance, not %q", text)
	}
	split := func(list string) []string {
		return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	}
	return access.Layers{Geographic: split(geographic), BusinessRelated: split(business)}.OrDefault(), nil
}

// ExplainEntity has the service evaluate a published policy for the entity in a file, and prints the fields of a
// category with the conditions that decided. The error is command.Rejected if a value is wrong.
func ExplainEntity(ctx context.Context, c *client.Client, ui *terminal.Terminal, p policy.Contents, path,
	category string) error {
	e := evaluation{ui: ui, policy: p.EntityType, entity: path, categories: []string{category}, explain: true,
		names: namesOfConditions(p)}
	in, err := e.readInput(ctx)
	if err != nil {
		return err
	}
	return e.runRemote(ctx, policyService{c}, in, io.Discard)
}
