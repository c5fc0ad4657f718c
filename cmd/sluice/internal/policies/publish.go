package policies

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/policyfile"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
	"sluice/shared/policy"
)

func publishPolicyCommand() *cobra.Command {
	var workspace string
	c := service.Command(&cobra.Command{
		Use: "publish POLICY", Short: "publish the draft of a policy",
		Long: `
POLICY is an ID or a type of entities. Drafts of the data groups to which the policy refers are published first: they
are shared by all policies. A version that cannot be evaluated is refused, and nothing has changed then but data
groups.`,
		Example: "sluice policy publish Company",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		ui := terminal.New(stdout)
		if asJSON {
			ui = terminal.New(io.Discard)
		}
		p := publication{service: policyService{c}, ui: ui}
		v, err := p.run(ctx, args[0], workspace)
		if err == nil && asJSON {
			err = output.PrintJSON(stdout, v)
		}
		return err
	})
	c.Flags().StringVar(&workspace, "workspace", defaultWorkspace, "`ID` of the workspace of the draft")
	return c
}

// publication publishes drafts.
type publication struct {
	service policyService
	ui      *terminal.Terminal
}

// run publishes the draft of a workspace, and the drafts of the data groups to which it refers.
func (p *publication) run(ctx context.Context, name, workspace string) (client.PolicyVersion, error) {
	found, err := p.service.findPolicy(ctx, name)
	if err != nil {
		return client.PolicyVersion{}, err
	}
	draft, err := p.service.FindPolicyDraft(ctx, found.EntityPolicyID, workspace)
	if err == nil && draft == nil {
		err = fmt.Errorf("the workspace %s has no draft of the policy %s", workspace, found.EntityPolicyID)
	}
	if err != nil {
		return client.PolicyVersion{}, err
	}
	v, err := p.service.readVersion(ctx, *draft, wire.OrZero(draft.VersionNumber))
	if err != nil {
		return client.PolicyVersion{}, err
	}
	if err := p.publishGroups(ctx, v.contents.Fields, map[string]bool{}); err != nil {
		return client.PolicyVersion{}, err
	}
	return p.publish(ctx, found.EntityPolicyID, workspace)
}

// publishGroups publishes the data groups to which fields refer, and those to which their fields do.
func (p *publication) publishGroups(ctx context.Context, fields []policy.Field, done map[string]bool) error {
	for _, f := range fields {
		if !f.HasDataGroup() || done[f.FieldTypeID] {
			continue
		}
		done[f.FieldTypeID] = true
		g, err := p.service.DataGroup(ctx, f.FieldTypeID, 0)
		if err != nil {
			return fmt.Errorf("field %s: data group %s: %w", linefile.Printable(f.DataKey), f.FieldTypeID, err)
		}
		contents, err := appendDecoded([]policy.DataGroup(nil), g.Reply)
		if err != nil {
			return err
		}
		if err := p.publishGroups(ctx, contents[0].Fields, done); err != nil {
			return err
		}
		if _, err := p.publishGroup(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// publishGroup publishes a version of a data group that is a draft or waits for that, and returns it as it is then.
func (p *publication) publishGroup(ctx context.Context, g client.DataGroup) (client.DataGroup, error) {
	name := g.Name
	for _, status := range []string{client.DataGroupPending, client.DataGroupPublished} {
		if g.Status != client.DataGroupDraft && g.Status != client.DataGroupPending || g.Status == status {
			continue
		}
		next, err := p.service.SetDataGroupStatus(ctx, g.DataGroupID, g.VersionNumber, status)
		if err != nil {
			return g, fmt.Errorf("data group %s: %w", linefile.Printable(name), err)
		}
		g.Status, g.Revision = next.Status, next.Revision
		if status == client.DataGroupPublished {
			p.ui.Printf("Version %d of the data group %s is published.\n", g.VersionNumber, linefile.Printable(name))
		}
	}
	return g, nil
}

// publish publishes the draft of a workspace.
func (p *publication) publish(ctx context.Context, id, workspace string) (client.PolicyVersion, error) {
	v, err := p.service.PublishPolicy(ctx, id, workspace)
	if err == nil {
		p.ui.Printf("Version %d of the policy %s is published.\n", v.VersionNumber, id)
	}
	return v, err
}

func listPoliciesCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "list [POLICY]", Short: "list the policies, or the versions of one",
		Example: `
sluice policy list
sluice policy list Company`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		s := policyService{c}
		list, err := s.Policies(ctx)
		if len(args) > 0 {
			var found client.Policy
			if found, err = s.findPolicy(ctx, args[0]); err == nil {
				list, err = s.PolicyVersions(ctx, found.EntityPolicyID)
			}
		}
		if err != nil {
			return err
		}
		if len(list) == 0 && !asJSON {
			fmt.Fprintln(os.Stderr, "There are no policies; 'sluice policy import' makes one.")
		}
		table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
		for _, p := range list {
			if asJSON {
				if _, err := fmt.Fprintf(stdout, "%s\n", p.Reply); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(table, "%s@%d\t%s\t%s\t%s\t%s\n", p.EntityPolicyID, wire.OrZero(p.VersionNumber),
				p.EntityType, wire.OrZero(p.Status), linefile.Printable(wire.OrZero(p.WorkspaceID)),
				linefile.Printable(p.VersionNotes))
		}
		return table.Flush()
	})
}

func exportPolicyCommand() *cobra.Command {
	var path string
	c := service.Command(&cobra.Command{
		Use: "export VERSION", Short: "write a version of a policy as a file",
		Long: `
VERSION is an ID or a type of entities and, after @, the number of a version; without it, what is published. Importing
the file again changes nothing. The file is YAML; with --json it is JSON.`,
		Example: `
sluice policy export Company -o company.yaml
sluice policy export 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e21@3`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		ref, ok := parsePolicyRef(args[0])
		if !ok {
			return command.Usagef("%q is not a version of a policy, such as Company@3 or the ID of a policy", args[0])
		}
		out, err := files.OpenOutput(path, "the policy", stdout)
		if err != nil {
			return err
		}
		defer out.Discard()
		contents, err := policyService{c}.readContents(ctx, ref)
		if err != nil {
			return err
		}
		format := policyfile.Format
		if asJSON {
			format = policyfile.FormatJSON
		}
		text, err := format(contents)
		if err != nil {
			return err
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
		return out.Finish()
	})
	c.Flags().StringVarP(&path, "output", "o", files.StdName, "write to `FILE`; - is standard output")
	return c
}
