package policies

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/policyfile"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
	"sluice/shared/policy"
)

// defaultWorkspace is the workspace in which the command line edits unless told otherwise.
const defaultWorkspace = "sluice"

func importPolicyCommand() *cobra.Command {
	var i policyImport
	var conn service.Connection
	c := &cobra.Command{
		Use: "import FILE", Short: "make the draft of a policy what a file has",
		Long: `
Shows what the file adds (+), updates (~) and deletes (-), and makes these changes in the draft of a workspace, which it
creates if there is none. A policy for the file's type of entities is created if there is none. Nothing is sent if the
policy cannot be evaluated. If the import is interrupted, the same command continues it; a file that was imported
already changes nothing.

Data groups are shared by all policies. Those of the file are created or get a new draft version; --publish publishes
them together with the policy. Data groups that the file does not have stay as they are.`,
		Example: `
sluice policy import sampledata/policies/company.yaml --dry-run
sluice policy import sampledata/policies/company.yaml --publish --note 'First version'`,
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			file, _, err := compilePolicyFile(ctx, args[0])
			if err != nil {
				return explainFile(err)
			}
			c, err := conn.NewClient(ctx)
			if err != nil {
				return err
			}
			i.service, i.file, i.ui = policyService{c}, file, terminal.New(stdout)
			if i.asJSON {
				i.ui = terminal.New(io.Discard)
			}
			if err := i.run(ctx); err != nil {
				return i.explainInterruption(ctx, err)
			}
			if i.asJSON {
				return output.PrintJSON(stdout, i.outcome)
			}
			return nil
		}),
	}
	f := c.Flags()
	f.StringVar(&i.policy, "policy", "", "`POLICY`: an ID or a type of entities (default the type of the file)")
	f.StringVar(&i.workspace, "workspace", defaultWorkspace, "`ID` of the workspace of the draft")
	f.StringVar(&i.note, "note", "", "`TEXT` that a new draft has as its version note")
	f.BoolVar(&i.publish, "publish", false, "publish the draft when it is complete")
	f.BoolVar(&i.dryRun, "dry-run", false, "only show what would be changed")
	f.BoolVar(&i.asJSON, "json", false, "print the outcome as JSON and nothing else")
	conn.AddFlags(c)
	command.Values(c, "policy", policy.EntityTypes...)
	return c
}

// policyImport is one import of a policy.
type policyImport struct {
	service                 policyService
	file                    *policyfile.File
	ui                      *terminal.Terminal
	policy, workspace, note string
	publish, dryRun, asJSON bool
	// brief prints how much is changed in place of what.
	brief bool

	// target is the policy; its ID is "" if it is still to be created.
	target client.Policy
	// draft is the draft of the workspace; nil if there is none yet.
	draft *client.Policy
	// current is what the draft has, or what a new one would begin with.
	current *remoteVersion
	// groups are the newest versions of the data groups that the file means, by their IDs.
	groups map[string]client.DataGroup
	// wanted is what the file has, with the IDs that the service knows.
	wanted policy.Contents
	// begun means that something may have been changed.
	begun   bool
	outcome importOutcome
}

// importOutcome is what --json prints.
type importOutcome struct {
	PolicyID      string `json:"entityPolicyId,omitempty"`
	VersionNumber int64  `json:"versionNumber,omitempty"`
	WorkspaceID   string `json:"workspaceId"`
	// Outcome is imported, unchanged, published or dry_run.
	Outcome string                `json:"outcome"`
	Changes policyfile.Comparison `json:"changes"`
}

func (i *policyImport) run(ctx context.Context) error {
	if err := i.find(ctx); err != nil {
		return err
	}
	if err := i.readCurrent(ctx); err != nil {
		return err
	}
	if err := i.plan(); err != nil {
		return err
	}
	i.outcome.Outcome = "dry_run"
	if i.dryRun {
		i.ui.Printf("Nothing was changed (--dry-run).\n")
		return nil
	}
	i.outcome.Outcome = "unchanged"
	if !i.outcome.Changes.IsEmpty() || i.target.EntityPolicyID == "" {
		i.outcome.Outcome = "imported"
		if err := i.apply(ctx); err != nil {
			return err
		}
	}
	if i.publish {
		return i.finish(ctx)
	}
	if i.draft != nil {
		i.ui.Printf("The draft is version %d of the policy %s, in the workspace %s; it is not published.\n",
			wire.OrZero(i.draft.VersionNumber), i.target.EntityPolicyID, linefile.Printable(i.workspace))
	}
	return nil
}

// find finds the policy and the draft of the workspace.
func (i *policyImport) find(ctx context.Context) error {
	name := cmp.Or(i.policy, i.file.Contents.EntityType)
	found, err := i.service.findPolicies(ctx, name)
	switch {
	case err != nil:
		return err
	case len(found) > 1:
		return ambiguousPolicy(name, found)
	case len(found) == 0:
		i.target = client.Policy{Policy: wire.Policy{EntityType: name}}
	default:
		i.target = found[0]
		if i.draft, err = i.service.FindPolicyDraft(ctx, i.target.EntityPolicyID, i.workspace); err != nil {
			return err
		}
	}
	if i.target.EntityType != i.file.Contents.EntityType {
		return fmt.Errorf("%s is for the type %s, but the policy is for the type %s", i.file.Name,
			i.file.Contents.EntityType, i.target.EntityType)
	}
	if i.draft != nil && i.draft.IsLocked {
		return fmt.Errorf("the workspace %s is locked: its draft takes no changes until it is unlocked", i.workspace)
	}
	return nil
}

// readCurrent reads what the draft has, or what a new one would begin with, and the data groups that the file means.
func (i *policyImport) readCurrent(ctx context.Context) (err error) {
	switch {
	case i.draft != nil:
		i.current, err = i.service.readVersion(ctx, i.target, wire.OrZero(i.draft.VersionNumber))
	case wire.OrZero(i.target.PublishedVersionNumber) > 0:
		i.current, err = i.service.readVersion(ctx, i.target, published)
	default:
		i.current = &remoteVersion{contents: policy.Contents{EntityType: i.target.EntityType}}
	}
	if err != nil {
		return err
	}
	return i.readGroups(ctx)
}

// readGroups reads the newest versions of the data groups that the file means: those with the IDs or the names of its
// own.
func (i *policyImport) readGroups(ctx context.Context) error {
	all, err := i.service.DataGroups(ctx)
	if err != nil {
		return err
	}
	i.groups = map[string]client.DataGroup{}
	for _, own := range i.file.Contents.DataGroups {
		var found []client.DataGroup
		for _, g := range all {
			if g.DataGroupID == own.ID {
				found = []client.DataGroup{g}
				break
			}
			if g.Name == own.Name {
				found = append(found, g)
			}
		}
		if len(found) > 1 {
			return fmt.Errorf("there are %d data groups of the name %q: give the one in the file its dataGroupId",
				len(found), own.Name)
		}
		for _, g := range found {
			if g, err = i.service.DataGroup(ctx, g.DataGroupID, 0); err != nil {
				return err
			}
			i.groups[g.DataGroupID] = g
			c := &i.current.contents
			if c.DataGroups, err = appendDecoded(c.DataGroups, g.Reply); err != nil {
				return err
			}
		}
	}
	return nil
}

// plan works out what is to be changed, shows it, and refuses it if others have locked something of it.
func (i *policyImport) plan() error {
	known := i.current.contents // with what the draft deletes, so that it is recognised when it comes back
	known.Fields = slices.Concat(known.Fields, i.current.deleted.Fields)
	known.Jurisdictions = slices.Concat(known.Jurisdictions, i.current.deleted.Jurisdictions)
	i.wanted = i.file.Resolve(known)
	i.outcome.Changes = policyfile.Compare(i.current.contents, i.wanted)
	i.outcome.WorkspaceID, i.outcome.PolicyID = i.workspace, i.target.EntityPolicyID
	if i.draft != nil {
		i.outcome.VersionNumber = wire.OrZero(i.draft.VersionNumber)
	}
	if i.target.EntityPolicyID == "" && !i.brief {
		i.ui.Printf("%s a policy for the type %s\n", i.ui.Paint(terminal.Green, "+"), i.target.EntityType)
	}
	if i.brief {
		i.ui.Printf("  added or changed: %s\n", summarizeChanges(i.outcome.Changes))
	} else {
		printComparison(i.ui, i.outcome.Changes)
	}
	if i.outcome.Changes.IsEmpty() && i.target.EntityPolicyID != "" {
		i.ui.Printf("Nothing to change: the policy is as the file has it.\n")
	}
	var locked []string
	for _, change := range slices.Concat(i.outcome.Changes.Fields, i.outcome.Changes.Jurisdictions) {
		if by := i.current.lockedBy[change.ID]; by != "" {
			locked = append(locked, fmt.Sprintf("%s (workspace %s)", cmp.Or(change.DataKey, change.Name), by))
		}
	}
	if locked != nil {
		return fmt.Errorf("nothing was changed: others have locked %s", linefile.Printable(strings.Join(locked, ", ")))
	}
	return nil
}

// explainInterruption says of an import that was interrupted how it goes on.
func (i *policyImport) explainInterruption(ctx context.Context, err error) error {
	if ctx.Err() != nil && i.begun {
		return fmt.Errorf("%w; the same command continues the import", command.ErrInterrupted)
	}
	return err
}

// PublishFile imports a policy from a file, publishes it, prints how much it changes, and returns it.
func PublishFile(ctx context.Context, c *client.Client, ui *terminal.Terminal, path string) (policy.Contents, error) {
	file, _, err := compilePolicyFile(ctx, path)
	if err != nil {
		return policy.Contents{}, err
	}
	i := policyImport{service: policyService{c}, file: file, ui: ui, workspace: defaultWorkspace, publish: true,
		brief: true}
	return file.Contents, i.run(ctx)
}
