// Package admin has the commands by which operators administer an installation, on AWS or on this machine.
package admin

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/output"
	"sluice/internal/command"
	"sluice/shared/access/audit"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/permission"
	"sluice/shared/connect/outbound"
	"sluice/shared/platform/entity/entitydb"
)

// admin is one run of an admin command: the installation and the flags that all commands share.
type admin struct {
	// data is the data folder of a local cloud; "" is the default folder, if a local cloud runs there, else AWS.
	data string
	// prefix begins the names of the installation's tables.
	prefix string
	// tenant is --tenant, else that of the local cloud; "" on AWS.
	tenant string
	// hasNoDefaultTenant is set if a command without --tenant is not about a tenant.
	hasNoDefaultTenant bool
	now                time.Time
	// IsLocal is set if the installation is a local cloud that was found by its data folder.
	isLocal bool
	// given are the flags of the command line for all commands, written for a shell, as connecting has found them.
	given []string
	// isOnAWS is set if the installation is not a local cloud, whatever runs on this machine.
	isOnAWS bool

	registry *authdb.Registry
	profiles *entitydb.Profiles
	kms      *kms.Client
	// clientKeys are the keys that tenants' calls to others present.
	clientKeys outbound.KeyStore
	recorder   *actRecorder
	// aws are the settings for all services but S3, storage those for S3.
	aws, storage aws.Config
}

// time returns the time at which the command began.
func (a *admin) time() time.Time { return a.now }

func Command() *cobra.Command {
	a := &admin{now: time.Now().UTC()}
	c := &cobra.Command{
		Use:   "admin",
		Short: "administer tenants, clients, batches, entities, watchlists and signing keys",
		Long:  "Every command but status prints its result as JSON.",
		Example: `
sluice admin tenant create
sluice admin tenant enable-batch 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11
sluice admin client create --tenant 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11 --permission BatchUpload`,
		Annotations: command.Notes(`
The installation: --data names the data folder of a running local cloud (SLUICE_DATA; .sluice if it exists). Without
a local cloud, the usual AWS settings count, and --prefix if the stack has another prefix than sluice.`),
	}
	f := c.PersistentFlags()
	f.StringVar(&a.data, "data", "",
		"data `DIR` of a running local cloud (default $SLUICE_DATA, else .sluice if it exists)")
	f.StringVar(&a.prefix, "prefix", "",
		"`NAME` that the stack has as its parameter Prefix (default that of the local cloud, else sluice)")
	f.StringVar(&a.tenant, "tenant", "",
		"`ID` of the tenant (default the local cloud's own; for watchlists, all tenants)")
	return command.Group(c,
		a.tenantCommands(), a.clientCommands(), a.entityCommands(), a.keyCommands(), a.batchCommands(),
		a.watchlistCommands(), a.statusCommand(),
	)
}

// command completes a command that connects to the installation, calls run with its arguments and prints the result as
// JSON.
func (a *admin) command(
	c *cobra.Command, run func(ctx context.Context, a *admin, args []string) (any, error),
) *cobra.Command {
	output.AlwaysJSON(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		_, name, _ := strings.Cut(c.CommandPath(), " admin ")
		result, err := a.act(c.Context(), name, args, run)
		if result == nil || err != nil && !errors.Is(err, errNotRecorded) {
			return err
		}
		return errors.Join(output.PrintJSON(c.OutOrStdout(), result), err)
	}
	return c
}

// act connects to the installation and runs what a command does, as a recorded act.
func (a *admin) act(
	ctx context.Context, name string, args []string, run func(ctx context.Context, a *admin, args []string) (any,
		error),
) (any, error) {
	if err := a.connect(ctx); err != nil {
		return nil, err
	}
	record := audit.Record{Tenant: a.tenant, Route: "admin " + name}
	if len(args) > 0 {
		record.Objects = map[string]string{"arguments": audit.Printable(strings.Join(args, " "))}
	}
	return a.recorder.run(ctx, record, func() (any, error) { return run(ctx, a, args) })
}

func (a *admin) tenantCommands() *cobra.Command {
	return command.Group(&cobra.Command{Use: "tenant", Short: "create, list and set tenants"},
		a.createTenantCommand(),
		a.command(&cobra.Command{Use: "list", Short: "list the tenants"}, listTenants),
		a.command(&cobra.Command{Use: "get TENANT", Short: "print the settings of a tenant"}, getTenant),
		a.setTenantCommand(),
		a.command(&cobra.Command{Use: "enable-batch TENANT", Short: "let a tenant use batches"},
			func(ctx context.Context, a *admin, args []string) (any, error) {
				return setBatchFeature(ctx, a, args[0], true)
			}),
		a.command(&cobra.Command{Use: "disable-batch TENANT", Short: "stop a tenant from using batches"},
			func(ctx context.Context, a *admin, args []string) (any, error) {
				return setBatchFeature(ctx, a, args[0], false)
			}),
		a.clientCertificateCommand(),
	)
}

func (a *admin) createTenantCommand() *cobra.Command {
	var id string
	var settings []string
	c := a.command(&cobra.Command{
		Use: "create", Short: "create a tenant; its batch feature is off",
		Example: `
sluice admin tenant create
sluice admin tenant create --set limits=none --set four_eyes=true
sluice admin tenant create --id 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11`,
	}, func(ctx context.Context, a *admin, _ []string) (any, error) {
		id = cmp.Or(id, uuid.NewString())
		return createTenant(ctx, a, id, settings)
	})
	c.Flags().StringVar(&id, "id", "", "`UUID` of the tenant (default a random one)")
	c.Flags().StringArrayVar(&settings, "set", nil,
		"a setting as `KEY=VALUE` of 'sluice admin tenant set'; can be repeated")
	command.Complete(c, "set", completeSettings)
	return c
}

func (a *admin) clientCommands() *cobra.Command {
	return command.Group(&cobra.Command{Use: "client", Short: "create, list and disable clients"},
		a.createClientCommand(),
		a.command(&cobra.Command{Use: "list", Short: "list the clients"}, listClients),
		a.command(&cobra.Command{
			Use:   "add-secret CLIENT",
			Short: "give a client a second secret, shown once; the first stays valid until remove-secret",
		}, addSecret),
		a.removeSecretCommand(),
		a.command(&cobra.Command{
			Use:   "disable CLIENT",
			Short: "disable a client: it gets no tokens, and its tokens stop working",
		}, disableClient),
	)
}

func (a *admin) createClientCommand() *cobra.Command {
	var o clientOptions
	c := a.command(&cobra.Command{
		Use: "create", Short: "create a client of a tenant; its secret is shown once",
		Example: `
sluice admin client create --tenant 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11 --permission all
sluice admin client create --permission BatchUpload --permission BatchRead`,
	}, func(ctx context.Context, a *admin, _ []string) (any, error) { return createClient(ctx, a, o) })
	f := c.Flags()
	f.StringArrayVar(&o.permissions, "permission", nil,
		"give the client the permission `NAME`; can be repeated; at least one is needed, all grants all")
	f.StringArrayVar(&o.geographic, "geographic", nil,
		"give it the geographic access layer `LAYER`; can be repeated (default Global)")
	f.StringArrayVar(&o.businessRelated, "business-related", nil,
		"give it the business-related access layer `LAYER`; can be repeated (default Enterprise)")
	command.Values(c, "permission", append(permission.All(), allPermissions)...)
	return c
}

func (a *admin) removeSecretCommand() *cobra.Command {
	var newer bool
	c := a.command(&cobra.Command{
		Use: "remove-secret CLIENT", Short: "take the older one of a client's two secrets",
		Long: `
Tokens that were issued for it stay valid until they expire; to end them at once, disable the client.`,
		Example: "sluice admin client remove-secret 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11",
	}, func(ctx context.Context, a *admin, args []string) (any, error) {
		return removeSecret(ctx, a, args[0], newer)
	})
	c.Flags().BoolVar(&newer, "newer", false, "take the newer one instead, if it is lost for example")
	return c
}

func (a *admin) entityCommands() *cobra.Command {
	return command.Group(&cobra.Command{Use: "entities", Short: "onboard entities, and mend their list"},
		a.importEntitiesCommand(), a.reindexEntitiesCommand())
}

func (a *admin) importEntitiesCommand() *cobra.Command {
	var o importOptions
	c := a.command(&cobra.Command{
		Use: "import FILE", Short: "onboard the entities in a file of JSON Lines",
		Long: `
FILE has one JSON object a line; - is standard input:
{"id": "...", "status": "Compliant", "type": "Company", "targetEntity": "Client", "properties": {...}}
An id has 1 to 255 bytes. The status is one of Unknown, OnboardingInProgress, Compliant, MaintenanceInProgress,
ReviewInProgress, PendingOffboarding and ClientOffboarded; lines of a batch may refer to an entity from Compliant to
PendingOffboarding. The other fields may be left out: a new entity is then of type Other and targetEntity Client, and
one that exists keeps what it has. Properties have the form of the platform's, for example
{"name": {"type": "Single", "value": "ACME"}}, and are merged with those that the entity has.
'sluice generate' writes such a file beside its batch. The result counts what was created, changed, unchanged, and
refused: an entity that was made on the platform stays as it is without --overwrite. An error names its line. Entities
on earlier lines may be stored by then; importing a file again is harmless.`,
		Example: `
sluice admin entities import batch.jsonl.entities
sluice admin entities import customers.jsonl --overwrite --verbose`,
	}, func(ctx context.Context, a *admin, args []string) (any, error) {
		return importEntities(ctx, a, args[0], o)
	})
	c.Flags().BoolVar(&o.overwrite, "overwrite", false, "change entities that were made on the platform, too")
	c.Flags().BoolVar(&o.verbose, "verbose", false, "print what is done to each entity, on standard error")
	return c
}

func (a *admin) reindexEntitiesCommand() *cobra.Command {
	var after string
	c := a.command(&cobra.Command{
		Use: "reindex", Short: "bring entities of earlier releases into the list of entities",
		Long: `
For an installation whose entities were written before the list existed: GET /entitydataquery/api/v2/entity shows them
only after this or after their next change. It also mends rows of the list that do not agree with their entity. Run it
as often as you like, also while the service is in use; what is listed already stays as it is. It reads the statuses of
all tenants' entities once.`,
		Example: "sluice admin entities reindex --tenant 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11",
	}, func(ctx context.Context, a *admin, _ []string) (any, error) { return reindexEntities(ctx, a, after) })
	c.Flags().StringVar(&after, "after", "", "go on after the `POSITION` that an interrupted run has printed")
	return c
}

// maxTokenSeconds is the largest value of the template's parameter TokenLifetime.
const maxTokenSeconds = 86400

func (a *admin) keyCommands() *cobra.Command {
	return command.Group(&cobra.Command{Use: "key", Short: "rotate, list and retire signing keys"},
		a.rotateKeyCommand(), a.listKeysCommand(), a.retireKeyCommand())
}

func (a *admin) rotateKeyCommand() *cobra.Command {
	var tokenSeconds int
	var receipts bool
	c := a.command(&cobra.Command{
		Use: "rotate", Short: "publish a new signing key for access tokens, or for receipts",
		Long: `
The new key signs once every cached copy of the old key set has expired. The present keys are retired when their last
token has expired. Keys of receipts are never retired: what they have signed can be verified for ever.`,
		Example: "sluice admin key rotate\nsluice admin key rotate --receipts",
	}, func(ctx context.Context, a *admin, _ []string) (any, error) {
		if receipts {
			return rotateReceiptKey(ctx, a)
		}
		if tokenSeconds < 1 || tokenSeconds > maxTokenSeconds {
			return nil, command.Usagef("--token-lifetime is 1 to %d seconds, not %d", maxTokenSeconds, tokenSeconds)
		}
		return rotateKey(ctx, a, time.Duration(tokenSeconds)*time.Second)
	})
	addReceiptsFlag(c, &receipts)
	c.Flags().IntVar(&tokenSeconds, "token-lifetime", 3600,
		"the parameter TokenLifetime of the installation, in `SECONDS`")
	return c
}

func (a *admin) listKeysCommand() *cobra.Command {
	var receipts bool
	c := a.command(&cobra.Command{Use: "list", Short: "list the signing keys of access tokens, or of receipts"},
		func(ctx context.Context, a *admin, args []string) (any, error) {
			if receipts {
				return listReceiptKeys(ctx, a)
			}
			return listKeys(ctx, a, args)
		})
	addReceiptsFlag(c, &receipts)
	return c
}

func addReceiptsFlag(c *cobra.Command, receipts *bool) {
	c.Flags().BoolVar(receipts, "receipts", false, "the keys of receipts of batches instead of those of access tokens")
}

func (a *admin) retireKeyCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use: "retire KID", Short: "end a signing key at once, with all tokens that it has signed",
		Long: `
For a key that may be in the wrong hands. Its tokens are refused within five minutes, when every cached copy of the key
set has expired; clients get new tokens. The only key that signs cannot be retired: rotate first, and wait until the new
key is active. 'sluice admin key list' prints the KID of each key.`,
		Example: "sluice admin key retire 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11",
	}, retireKey)
}
