package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sluice/client"
	"sluice/cmd/sluice/internal/policyfile"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
	"sluice/shared/policy"
)

// importStep is one change that an import makes.
type importStep struct {
	// name is what is changed, for messages.
	name string
	// group and id are those that it has in the file; "" for what the file does not have.
	group, id string
	run       func(ctx context.Context) error
}

// apply makes the changes. Each of them can be repeated, and what was made before is not among them any more when the
// import is run again.
func (i *policyImport) apply(ctx context.Context) error {
	i.begun = true
	if err := i.open(ctx); err != nil {
		return err
	}
	steps := i.steps()
	defer i.ui.SetLive()
	for n, s := range steps {
		done, all := int64(n), int64(len(steps))
		i.ui.SetLive(terminal.Part{Text: terminal.Bar(done, all, terminal.BarColumns), Rank: terminal.RankOfBar},
			terminal.Part{Text: terminal.FormatPercent(done, all), Rank: 0},
			terminal.Part{Text: linefile.Printable(s.name), Rank: 1})
		if err := s.run(ctx); err != nil {
			return i.explainRefusal(s, err)
		}
	}
	return nil
}

// open creates the policy or the draft if there is none.
func (i *policyImport) open(ctx context.Context) error {
	if i.draft != nil {
		return nil
	}
	draft := client.PolicyDraft{WorkspaceID: i.workspace, VersionNote: i.note}
	id := i.target.EntityPolicyID
	var refused error
	if id == "" {
		id = uuid.NewString()
		_, refused = i.service.CreatePolicy(ctx, id, i.target.EntityType, draft)
	} else {
		_, refused = i.service.CreatePolicyDraft(ctx, id, draft)
	}
	// A call that is repeated after a lost answer is a conflict with what the first one has made.
	if refused != nil && !isStatus(refused, http.StatusConflict) {
		return refused
	}
	found, err := i.service.FindPolicyDraft(ctx, id, i.workspace)
	switch {
	case refused != nil && (found == nil || err != nil):
		return refused
	case err != nil:
		return err
	case found == nil:
		return fmt.Errorf("the draft of the workspace %s is gone: someone has published or discarded it", i.workspace)
	}
	i.target.EntityPolicyID, i.outcome.PolicyID = id, id
	i.draft, i.outcome.VersionNumber = found, wire.OrZero(found.VersionNumber)
	return nil
}

func isStatus(err error, status int) bool {
	refused := new(client.Error)
	return errors.As(err, &refused) && refused.Status == status
}

// steps returns the changes: what others refer to is made first and deleted last.
func (i *policyImport) steps() []importStep {
	jurisdictions, fields := map[string]filePart{}, map[string]filePart{}
	for n, j := range i.wanted.Jurisdictions {
		jurisdictions[j.ID] = filePart{i.file.Contents.Jurisdictions[n].ID, j}
	}
	for n, f := range i.wanted.Fields {
		fields[f.ID] = filePart{i.file.Contents.Fields[n].ID, f}
	}
	changes := i.outcome.Changes
	savedJurisdictions, deletedJurisdictions := i.partSteps(client.PolicyJurisdictionPart, "jurisdiction ",
		changes.Jurisdictions, jurisdictions)
	savedFields, deletedFields := i.partSteps(client.PolicyFieldPart, "field ", changes.Fields, fields)
	return slices.Concat(i.groupSteps(), savedJurisdictions, savedFields, deletedFields, deletedJurisdictions)
}

// filePart is a field or a jurisdiction of the file: the ID that it is given there, or "", and what it is with its IDs.
type filePart struct {
	id   string
	data any
}

// groupSteps returns the changes of data groups. They can be made in any order: a group may refer to one that is still
// to be made.
func (i *policyImport) groupSteps() []importStep {
	changed := map[string]bool{}
	for _, c := range i.outcome.Changes.DataGroups {
		changed[c.Name] = c.Type != policy.Deleted
	}
	for _, c := range i.outcome.Changes.Fields {
		if c.Group != "" {
			changed[c.Group] = true
		}
	}
	var steps []importStep
	for n, g := range i.wanted.DataGroups {
		if changed[g.Name] {
			steps = append(steps, importStep{name: "data group " + g.Name, group: i.file.Contents.DataGroups[n].ID,
				run: func(ctx context.Context) error { return i.saveGroup(ctx, g) }})
		}
	}
	return steps
}

// partSteps returns the changes of the fields or jurisdictions of the policy itself: those that save one, and those
// that delete one. Fields of data groups are changed with their groups. wanted has what the file has, by its ID.
func (i *policyImport) partSteps(part client.PolicyPart, kind string, changes []policyfile.Change,
	wanted map[string]filePart) (saved, deleted []importStep) {
	for _, c := range changes {
		name := kind + cmp.Or(c.DataKey, c.Name)
		switch p := wanted[c.ID]; {
		case c.Group != "":
		case c.Type == policy.Deleted:
			deleted = append(deleted, importStep{name: name, run: i.deleting(part, c)})
		default:
			saved = append(saved, importStep{name: name, id: p.id, run: i.saving(part, c, p.data)})
		}
	}
	return saved, deleted
}

// saving adds or updates a field or a jurisdiction. One that the draft deletes is taken back first. One that is there
// already was added by a call whose answer was lost.
func (i *policyImport) saving(part client.PolicyPart, c policyfile.Change, data any) func(context.Context) error {
	isDeleted := slices.ContainsFunc(i.current.deleted.Fields, func(f policy.Field) bool { return f.ID == c.ID }) ||
		slices.ContainsFunc(i.current.deleted.Jurisdictions, func(j policy.Jurisdiction) bool { return j.ID == c.ID })
	return func(ctx context.Context) error {
		switch {
		case isDeleted:
			if err := i.service.RevertInPolicy(ctx, part, i.target.EntityPolicyID, i.workspace, c.ID); err != nil {
				return err
			}
		case c.Type == policy.Added:
			err := i.service.AddToPolicy(ctx, part, i.target.EntityPolicyID, i.workspace, data)
			if !isStatus(err, http.StatusConflict) {
				return err
			}
		}
		return i.service.UpdateInPolicy(ctx, part, i.target.EntityPolicyID, i.workspace, c.ID, data)
	}
}

// deleting deletes a field or a jurisdiction. One that is not there was deleted by a call whose answer was lost.
func (i *policyImport) deleting(part client.PolicyPart, c policyfile.Change) func(context.Context) error {
	return func(ctx context.Context) error {
		err := i.service.DeleteFromPolicy(ctx, part, i.target.EntityPolicyID, i.workspace, c.ID)
		if isStatus(err, http.StatusNotFound) {
			return nil
		}
		return err
	}
}

// groupData is what is sent of a data group.
type groupData struct {
	ID                                  string         `json:"dataGroupId,omitempty"`
	Name                                string         `json:"name"`
	Description                         string         `json:"description,omitempty"`
	PrimaryDataGroupField               string         `json:"primaryDataGroupField,omitempty"`
	DisableMultiselectPrimaryFieldOnAdd bool           `json:"disableMultiselectPrimaryFieldOnAdd"`
	DataGroupFields                     []policy.Field `json:"dataGroupFields"`
}

// saveGroup makes the newest version of a data group a draft with what the file has.
func (i *policyImport) saveGroup(ctx context.Context, g policy.DataGroup) error {
	data := groupData{Name: g.Name, Description: g.Description, PrimaryDataGroupField: g.PrimaryField,
		DisableMultiselectPrimaryFieldOnAdd: g.DisableMultiselectPrimaryFieldOnAdd, DataGroupFields: g.Fields}
	stored, isStored := i.groups[g.ID]
	var saved client.DataGroup
	var err error
	switch {
	case !isStored:
		created := data
		created.ID = g.ID
		if saved, err = i.service.CreateDataGroup(ctx, created); isStatus(err, http.StatusConflict) {
			saved, err = i.service.SaveDataGroup(ctx, g.ID, 1, data) // the answer to a first call was lost
		}
	case stored.Status == client.DataGroupDraft:
		saved, err = i.service.SaveDataGroup(ctx, g.ID, stored.VersionNumber, data)
	default:
		saved, err = i.service.AddDataGroupVersion(ctx, g.ID, data)
	}
	if err == nil {
		saved.Name = g.Name // which the reply does not repeat
		i.groups[g.ID] = saved
	}
	return err
}

// explainRefusal says which part of the file the service has refused, and where it is.
func (i *policyImport) explainRefusal(s importStep, err error) error {
	refused := new(client.Error)
	if !errors.As(err, &refused) {
		return err
	}
	e := &policyfile.Error{Name: i.file.Name}
	for _, d := range refused.Details {
		path := fmt.Sprint(d.Loc...)
		e.Problems = append(e.Problems, policyfile.Problem{Line: i.file.Line(s.group, s.id, path),
			Place: s.name + ", " + path, Message: d.Msg})
	}
	if e.Problems == nil {
		return fmt.Errorf("%s: %w", linefile.Printable(s.name), err)
	}
	return fmt.Errorf("%s: the service answers %d: %s\n%s", linefile.Printable(s.name), refused.Status,
		linefile.Printable(refused.Message), strings.TrimSpace(terminal.PrintableLines(e.Error())))
}

// finish publishes the data groups of the file, and the draft. Without a draft, the policy is published again only if
// it has pinned other versions of the data groups.
func (i *policyImport) finish(ctx context.Context) error {
	i.begun = true
	p := publication{service: i.service, ui: i.ui}
	for _, g := range i.wanted.DataGroups {
		saved, err := p.publishGroup(ctx, i.groups[g.ID])
		if err != nil {
			return err
		}
		i.groups[g.ID] = saved
	}
	if i.draft == nil {
		isCurrent, err := i.isPinned(ctx)
		if isCurrent || err != nil {
			return err
		}
		if err := i.open(ctx); err != nil {
			return err
		}
	}
	v, err := p.publish(ctx, i.target.EntityPolicyID, i.workspace)
	if err != nil {
		return i.explainProblems(err)
	}
	i.outcome.Outcome, i.outcome.VersionNumber = "published", v.VersionNumber
	return nil
}

// isPinned reports whether the published version has the versions of the data groups that are published now.
func (i *policyImport) isPinned(ctx context.Context) (bool, error) {
	if wire.OrZero(i.target.PublishedVersionNumber) == 0 {
		return false, nil
	}
	published := wire.OrZero(i.target.PublishedVersionNumber)
	pinned, err := i.service.PolicyDataGroups(ctx, i.target.EntityPolicyID, published)
	if err != nil {
		return false, err
	}
	for _, g := range i.wanted.DataGroups {
		isSame := func(p client.DataGroup) bool {
			return p.DataGroupID == g.ID && p.VersionNumber == i.groups[g.ID].VersionNumber
		}
		if i.isUsed(g.ID) && !slices.ContainsFunc(pinned, isSame) {
			return false, nil
		}
	}
	return true, nil
}

// isUsed reports whether a field refers to a data group.
func (i *policyImport) isUsed(id string) bool {
	refers := func(f policy.Field) bool { return f.FieldTypeID == id }
	isInside := func(g policy.DataGroup) bool { return slices.ContainsFunc(g.Fields, refers) }
	return slices.ContainsFunc(i.wanted.Fields, refers) || slices.ContainsFunc(i.wanted.DataGroups, isInside)
}

// explainProblems says where in the file the problems are because of which the service has refused to publish it.
func (i *policyImport) explainProblems(err error) error {
	return i.explainRefusal(importStep{name: "the policy"}, err)
}
