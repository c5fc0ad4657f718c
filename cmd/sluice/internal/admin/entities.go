package admin

import (
	"context"
	"errors"
	"fmt"
	"os"

	"sluice/cmd/sluice/internal/entities"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/linefile"
	"sluice/shared/access/audit"
	"sluice/shared/platform/entity"
)

// importWindow is how many entities are written at a time.
const importWindow = 10_000

// importOptions are the flags of an import.
type importOptions struct {
	overwrite, verbose bool
}

// importOutput is how the outcome of an import is printed: the numbers of entities.
type importOutput struct {
	TenantID string `json:"tenant_id"`
	// Imported counts all but the refused ones.
	Imported       int `json:"imported"`
	Created        int `json:"created"`
	StatusChanged  int `json:"status_changed"`
	ProfileChanged int `json:"profile_changed"`
	Unchanged      int `json:"unchanged"`
	Refused        int `json:"refused"`
}

// importEntities stores the entities of a file of JSON Lines. It stops at an invalid line; the entities before it may
// be stored then, and importing the file again is harmless.
func importEntities(ctx context.Context, a *admin, path string, o importOptions) (any, error) {
	if err := a.requireKnownTenant(ctx); err != nil {
		return nil, err
	}
	var window []entity.Import
	out := importOutput{TenantID: a.tenant}
	flush := func() error {
		results, err := a.profiles.Import(ctx, a.tenant, window, entity.ImportOptions{Overwrite: o.overwrite,
			At: a.now})
		for _, r := range results {
			out.add(r)
			if o.verbose {
				fmt.Fprintln(os.Stderr, formatImport(r))
			}
		}
		window = window[:0]
		return errors.Join(err, a.recorder.writeTransitions(ctx, transitionsOf(a.tenant, results)))
	}
	err := entities.ReadFile(ctx, path, func(e entity.Import) error {
		if window = append(window, e); len(window) < importWindow {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil && out.Refused > 0 {
		fmt.Fprintf(os.Stderr, "%s; --overwrite changes them too.\n", terminal.CountNoun(int64(out.Refused),
			"entity was made on the platform and left as it is",
			"entities were made on the platform and left as they are"))
	}
	return out, err
}

// transitionsOf returns the changes of lifecycle statuses that an import has made, for the audit trail.
func transitionsOf(tenant string, results []entity.ImportResult) []audit.Transition {
	var transitions []audit.Transition
	for _, r := range results {
		if r.Outcome != entity.ImportRefused && r.PreviousStatus != r.Status {
			transitions = append(transitions, audit.Transition{
				Message: "entity transition", Tenant: tenant, Entity: audit.Printable(r.ID),
				From: string(r.PreviousStatus), To: string(r.Status),
			})
		}
	}
	return transitions
}

// reindexOutput is how the outcome of a reindexing is printed.
type reindexOutput struct {
	TenantID string `json:"tenant_id"`
	entity.Reindexed
}

// reindexEntities brings a tenant's entities into their list, and prints how far it is after each part.
func reindexEntities(ctx context.Context, a *admin, after string) (any, error) {
	if err := a.requireKnownTenant(ctx); err != nil {
		return nil, err
	}
	out := reindexOutput{TenantID: a.tenant}
	for {
		counts, next, err := a.profiles.Reindex(ctx, a.tenant, after, entity.ImportOptions{At: a.now})
		if err != nil && after != "" {
			err = fmt.Errorf("%w (go on with --after %q)", err, after)
		}
		out.Add(counts)
		if err != nil || next == "" {
			return out, err
		}
		fmt.Fprintf(os.Stderr, "%s so far, %s of them new in the list\n",
			terminal.CountNoun(int64(out.Inspected), "entity", "entities"), terminal.FormatNumber(int64(out.Listed)))
		after = next
	}
}

func (out *importOutput) add(r entity.ImportResult) {
	out.Imported++
	switch r.Outcome {
	case entity.ImportCreated:
		out.Created++
	case entity.ImportStatusChanged:
		out.StatusChanged++
	case entity.ImportProfileChanged:
		out.ProfileChanged++
	case entity.ImportUnchanged:
		out.Unchanged++
	case entity.ImportRefused:
		out.Refused++
		out.Imported--
	}
}

// formatImport says what an import did to an entity.
func formatImport(r entity.ImportResult) string {
	text := linefile.Printable(r.ID) + ": "
	statuses := fmt.Sprintf(", from %s to %s", r.PreviousStatus, r.Status)
	if r.PreviousStatus == r.Status {
		statuses = fmt.Sprintf(", still %s", r.Status)
	}
	switch r.Outcome {
	case entity.ImportCreated:
		return text + "created as " + string(r.Status)
	case entity.ImportStatusChanged:
		return text + "status changed" + statuses
	case entity.ImportProfileChanged:
		return text + "profile changed" + statuses
	case entity.ImportUnchanged:
		return text + "unchanged"
	}
	return text + "refused, because it was made on the platform; it is " + string(r.PreviousStatus)
}
