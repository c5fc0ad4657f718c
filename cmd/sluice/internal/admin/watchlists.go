package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/screening"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/objects"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/watchlist"
)

// watchlistOptions are the flags of the watchlist commands.
type watchlistOptions struct {
	list, format, version string
	isDryRun, isForced    bool
}

// watchlistCommands are the commands that import lists and say which version of them is current.
func (a *admin) watchlistCommands() *cobra.Command {
	return command.Group(&cobra.Command{Use: "watchlist", Short: "import, list and roll back watchlists"},
		a.importWatchlistCommand(), a.listWatchlistsCommand(), a.rollbackWatchlistCommand())
}

// watchlistCommand completes a command on the shared lists or, if --tenant is given, on those of a tenant.
func (a *admin) watchlistCommand(
	c *cobra.Command, run func(ctx context.Context, w *watchlistAdmin, args []string) (any, error),
) *cobra.Command {
	c.PreRun = func(*cobra.Command, []string) { a.hasNoDefaultTenant = true }
	return a.command(c, func(ctx context.Context, a *admin, args []string) (any, error) {
		w, err := a.watchlists(ctx)
		if err != nil {
			return nil, err
		}
		return run(ctx, w, args)
	})
}

func (a *admin) importWatchlistCommand() *cobra.Command {
	var o watchlistOptions
	c := a.watchlistCommand(&cobra.Command{
		Use: "import FILE", Short: "make a list of sanctioned persons and organisations current",
		Long: `
The list is shared by all tenants unless --tenant names the one that alone sees it; a tenant's own list takes the place
of a shared one of the same name. FILE is a file of FORMAT, - is standard input; 'sluice help screen' describes the
formats. For ofac-sdn-csv, FILE is sdn.csv, and the other files are read beside it.

Rows that cannot be read are named, and the others are imported. What changes is counted and, of each
kind, the first 100 entries are named: added, removed, changed, moved (to another ID) and merged. An import that would
lose more than a tenth of the entries is refused without --force. Importing the same file again changes nothing. The
version that was current remains: 'sluice admin watchlist rollback' returns to it. Functions use the new version within
half a minute.`,
		Example: `
sluice admin watchlist import --list un --format un-xml consolidated.xml --dry-run
sluice admin watchlist import --list ofac --format ofac-sdn-csv sdn.csv
sluice admin watchlist import --list internal --format targets-simple-csv own.csv \
    --tenant 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11`,
	}, func(ctx context.Context, w *watchlistAdmin, args []string) (any, error) {
		return w.importList(ctx, args[0], o)
	})
	f := c.Flags()
	f.StringVar(&o.list, "list", "", "`NAME` of the list, as requests and hits have it")
	f.StringVar(&o.format, "format", "", "`FORMAT` of the file: "+screening.FormatList())
	f.BoolVar(&o.isDryRun, "dry-run", false, "print what would change, and change nothing")
	f.BoolVar(&o.isForced, "force", false, "import the list even if it loses more than a tenth of its entries")
	command.Values(c, "format", strings.Split(screening.FormatList(), ", ")...)
	return c
}

func (a *admin) listWatchlistsCommand() *cobra.Command {
	var o watchlistOptions
	c := a.watchlistCommand(&cobra.Command{
		Use: "list", Short: "print the lists with their versions and their age",
		Long: `
Prints the shared lists and, if --tenant is given, those of the tenant. The age of a version is that of its source or,
if the file does not say its date, that of its import.`,
		Example: "sluice admin watchlist list\nsluice admin watchlist list --list un",
	}, func(ctx context.Context, w *watchlistAdmin, _ []string) (any, error) { return w.listLists(ctx, o.list) })
	c.Flags().StringVar(&o.list, "list", "", "print only the list of this `NAME`")
	return c
}

func (a *admin) rollbackWatchlistCommand() *cobra.Command {
	var o watchlistOptions
	c := a.watchlistCommand(&cobra.Command{
		Use: "rollback", Short: "make an earlier version of a list current",
		Example: `
sluice admin watchlist rollback --list un
sluice admin watchlist rollback --list un --to 3f1c9a07d2b4`,
	}, func(ctx context.Context, w *watchlistAdmin, _ []string) (any, error) { return w.rollback(ctx, o) })
	c.Flags().StringVar(&o.list, "list", "", "`NAME` of the list")
	c.Flags().StringVar(&o.version, "to", "", "`VERSION`, or its beginning (default the previous one)")
	return c
}

// watchlistAdmin acts on the lists of one owner.
type watchlistAdmin struct {
	*catalog.Importer
	admin *admin
	owner string
}

// watchlists returns the lists that the command is about.
func (a *admin) watchlists(ctx context.Context) (*watchlistAdmin, error) {
	owner := catalog.Shared
	if a.tenant != "" {
		if _, err := a.registry.Tenant(ctx, a.tenant); err != nil {
			return nil, explainNotFound(err, "tenant", a.tenant)
		}
		owner = a.tenant
	}
	options := objects.Options{PathStyle: a.storage.BaseEndpoint != nil || os.Getenv("AWS_ENDPOINT_URL") != "" ||
		os.Getenv("AWS_ENDPOINT_URL_S3") != ""}
	bucket, err := objects.Find(ctx, a.storage, a.prefix+"-work-", options)
	if err != nil {
		return nil, err
	}
	tables, err := a.tables(ctx, "TABLE_WATCHLISTS")
	if err != nil {
		return nil, err
	}
	db := dynamo.NewClient(a.aws)
	return &watchlistAdmin{admin: a, owner: owner, Importer: &catalog.Importer{
		Store: catalogdb.New(db, tables["TABLE_WATCHLISTS"]), Files: bucket, By: a.recorder.caller(ctx), Now: a.time,
	}}, nil
}

// importList reads a file and makes it current.
func (w *watchlistAdmin) importList(ctx context.Context, path string, o watchlistOptions) (any, error) {
	switch {
	case o.list == "":
		return nil, command.Usagef("--list is needed")
	case !slices.Contains(watchlist.Formats, watchlist.Format(o.format)):
		return nil, command.Usagef("--format is one of %s, not %q", screening.FormatList(), o.format)
	}
	if err := catalog.CheckListName(o.list); err != nil {
		return nil, command.Usagef("--list: %v", err)
	}
	source, file := watchlist.FileSource(path), filepath.Base(path)
	if path == files.StdName {
		source, file = stdinSource(ctx), files.DisplayName(path)
	}
	content, err := watchlist.Read(watchlist.Format(o.format), source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	plan, err := w.Plan(ctx, catalog.Import{
		Owner: w.owner, List: o.list, Format: watchlist.Format(o.format), File: file, Content: content})
	if err != nil {
		return nil, err
	}
	out := newImportedList(plan, w.admin.now)
	for _, problem := range content.Problems {
		out.ProblemRows = append(out.ProblemRows, problem.String())
	}
	switch {
	case plan.IsUnchanged():
		out.Outcome = "unchanged"
		return out, nil
	case o.isDryRun:
		out.Outcome = "dry_run"
		return out, nil
	}
	out.Outcome = "imported"
	return out, explainImport(w.Apply(ctx, plan, o.isForced), plan, w.admin)
}

// stdinSource returns standard input as a file of a list, beside which there are no others.
func stdinSource(ctx context.Context) watchlist.Source {
	return func(companion string) (io.ReadCloser, error) {
		if companion != "" {
			return nil, fmt.Errorf("%w: what is beside standard input", os.ErrNotExist)
		}
		return files.OpenInput(ctx, files.StdName)
	}
}

// explainImport says of an import that was not made what to do.
func explainImport(err error, p *catalog.Plan, a *admin) error {
	switch {
	case errors.Is(err, catalog.ErrTooManyLost):
		return fmt.Errorf("nothing was imported: of the %s of the current version, %s would be lost, more than "+
			"a tenth; --dry-run names them, --force imports the list all the same",
			terminal.CountNoun(int64(p.Before.Current.Entries), "entry", "entries"),
			terminal.FormatNumber(int64(p.Counts.Removed)))
	case errors.Is(err, catalog.ErrChanged):
		return fmt.Errorf("nothing was imported: someone else has made another version current at the same time; "+
			"import again if that is still what you want; this shows it: %s", a.commandLine("watchlist list"))
	}
	return err
}

// rollback makes an earlier version current.
func (w *watchlistAdmin) rollback(ctx context.Context, o watchlistOptions) (any, error) {
	if o.list == "" {
		return nil, command.Usagef("--list is needed")
	}
	version, err := w.resolveVersion(ctx, o.list, o.version)
	if err != nil {
		return nil, err
	}
	before, after, err := w.Rollback(ctx, w.owner, o.list, version)
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		return nil, fmt.Errorf("there is no list %q%s", o.list, w.ownerText())
	case errors.Is(err, catalog.ErrNoPrevious):
		return nil, fmt.Errorf("the list %q has had no other version", o.list)
	case errors.Is(err, catalog.ErrChanged):
		return nil, errors.New("nothing was changed: someone else has made another version current at the same time")
	case err != nil:
		return nil, err
	}
	out := rolledBackList{
		List: o.list, TenantID: w.tenantID(), Outcome: "rolled_back",
		Version:  newVersionOutput(after.Current, w.admin.now),
		Previous: before.Current.Version,
	}
	if before.Revision == after.Revision {
		out.Outcome, out.Previous = "unchanged", ""
	}
	return out, nil
}

// resolveVersion returns the version that begins with a text, "" for "".
func (w *watchlistAdmin) resolveVersion(ctx context.Context, list, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	versions, err := w.Store.Versions(ctx, w.owner, list)
	if err != nil {
		return "", err
	}
	var found []string
	for _, v := range versions {
		if strings.HasPrefix(v.Version, strings.ToLower(text)) {
			found = append(found, v.Version)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("the list %q%s has no version %q", list, w.ownerText(), text)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%d versions of the list %q begin with %q", len(found), list, text)
}

func (w *watchlistAdmin) tenantID() string {
	if w.owner == catalog.Shared {
		return ""
	}
	return w.owner
}

// ownerText says whose lists these are.
func (w *watchlistAdmin) ownerText() string {
	if w.owner == catalog.Shared {
		return " that all tenants share (--tenant names the tenant of another one)"
	}
	return " of the tenant " + w.owner
}
