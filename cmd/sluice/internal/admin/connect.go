package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"golang.org/x/sync/errgroup"

	"sluice/cmd/sluice/internal/service"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/internal/localcloud"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/connect/outbound/outbounddb"
	"sluice/shared/kit/awsconfig"
	"sluice/shared/kit/dynamo"
	"sluice/shared/platform/entity/entitydb"
)

// connect finds the installation and makes its clients.
func (a *admin) connect(ctx context.Context) error {
	cfg, err := a.awsConfig(ctx)
	if err != nil {
		return err
	}
	a.aws = cfg
	a.recorder = newActRecorder(cfg, a.prefix, a.isLocal)
	db := dynamo.NewClient(cfg)
	tables, err := a.tables(ctx, "TABLE_CLIENTS", "TABLE_RECORDS", "TABLE_ENTITIES", "TABLE_OUTBOUND")
	if err != nil {
		return err
	}
	a.registry = authdb.New(db, tables["TABLE_CLIENTS"])
	a.profiles = entitydb.NewProfiles(db, tables["TABLE_RECORDS"], tables["TABLE_ENTITIES"])
	a.kms = kms.NewFromConfig(cfg)
	a.clientKeys = outbounddb.New(db, tables["TABLE_OUTBOUND"])
	return nil
}

// awsConfig returns the AWS settings of the installation, and sets prefix and tenant to its own unless flags gave them.
func (a *admin) awsConfig(ctx context.Context) (aws.Config, error) {
	if a.given == nil {
		a.given = a.givenFlags()
	}
	var local *localcloud.Descriptor
	if !a.isOnAWS {
		a.data = cmp.Or(a.data, os.Getenv("SLUICE_DATA"))
		var err error
		if local, err = service.FindLocalCloud(a.data); err != nil {
			return aws.Config{}, err
		}
	}
	if local == nil {
		// Warnings of the SDK are not for operators.
		cfg, err := awsconfig.Load(ctx, 0, config.WithLogger(logging.Nop{}))
		if err != nil {
			return cfg, err
		}
		a.storage = cfg
		a.prefix = cmp.Or(a.prefix, "sluice")
		return cfg, checkAWS(ctx, cfg)
	}
	cfg := awsconfig.At(local.AWSEndpointURL, local.Region,
		credentials.NewStaticCredentialsProvider(local.AccessKeyID, local.SecretAccessKey, ""))
	cfg.Logger = logging.Nop{}
	a.storage = cfg.Copy()
	a.storage.BaseEndpoint = &local.S3URL
	a.isLocal = true
	a.prefix = cmp.Or(a.prefix, local.Prefix)
	if !a.hasNoDefaultTenant {
		a.tenant = cmp.Or(a.tenant, local.TenantID)
	}
	return cfg, nil
}

// credentialsTimeout is how long the search for AWS credentials may take. On a machine outside AWS the last place that
// is asked, the instance's own, never answers.
const credentialsTimeout = 10 * time.Second

// checkAWS returns an error that says how to name an installation if the environment names none: neither a local cloud
// nor an AWS account and a region.
func checkAWS(ctx context.Context, cfg aws.Config) error {
	if cfg.Region != "" {
		limited, cancel := context.WithTimeout(ctx, credentialsTimeout)
		defer cancel()
		_, err := cfg.Credentials.Retrieve(limited)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("there is nothing to administer: no local cloud runs on %s (name another data folder with "+
		"--data DIR), and no AWS account is named (set AWS_REGION, and AWS_PROFILE or AWS_ACCESS_KEY_ID and "+
		"AWS_SECRET_ACCESS_KEY)", localcloud.DefaultDataDir)
}

// requireTenant returns an error if neither --tenant nor a local cloud names a tenant.
func (a *admin) requireTenant() error {
	if a.tenant == "" {
		return command.Usagef("--tenant is needed")
	}
	return nil
}

// CommandLine writes a command of sluice admin that a message tells people to run, with the flags that name the
// installation and the tenant, as this command was given them.
func (a *admin) commandLine(command string) string {
	return service.WriteCommandLine("admin "+command, a.given, nil)
}

// givenFlags returns the flags for all commands of sluice admin that the command line has.
func (a *admin) givenFlags() []string {
	flags := []string{}
	for _, f := range []struct{ name, value string }{{"data", a.data}, {"prefix", a.prefix}, {"tenant", a.tenant}} {
		if f.value != "" {
			flags = append(flags, "--"+f.name, linefile.ShellQuote(f.value))
		}
	}
	return flags
}

// requireKnownTenant is requireTenant for a tenant that must exist.
func (a *admin) requireKnownTenant(ctx context.Context) error {
	if err := a.requireTenant(); err != nil {
		return err
	}
	_, err := a.registry.Tenant(ctx, a.tenant)
	return explainNotFound(err, "tenant", a.tenant)
}

// Operator reads lists for the console as 'sluice admin' does, and has each reading recorded in the audit trail
// as it does.
type Operator struct {
	// IsLocal means that the installation is the local cloud on a data folder, "" for the default one.
	IsLocal bool
	Data    string
	// Prefix is the prefix of an installation on AWS; "" for the default one.
	Prefix string
}

// list runs the command that prints a list.
func (o Operator) list(
	ctx context.Context, name string, run func(ctx context.Context, a *admin, args []string) (any, error),
) (any, error) {
	a := &admin{data: o.Data, prefix: o.Prefix, hasNoDefaultTenant: true, now: time.Now().UTC(), isOnAWS: !o.IsLocal}
	result, err := a.act(ctx, name, nil, run)
	if errors.Is(err, errNotRecorded) && result != nil {
		err = nil // the list was read, and its beginning is recorded
	}
	return result, err
}

// Tenants lists the tenants.
func (o Operator) Tenants(ctx context.Context) (any, error) {
	return o.list(ctx, "tenant list", listTenants)
}

// Clients lists the clients of all tenants.
func (o Operator) Clients(ctx context.Context) (any, error) {
	return o.list(ctx, "client list", listClients)
}

// Keys lists the keys that sign access tokens.
func (o Operator) Keys(ctx context.Context) (any, error) {
	return o.list(ctx, "key list", listKeys)
}

// ReceiptKeys lists the keys that sign receipts.
func (o Operator) ReceiptKeys(ctx context.Context) (any, error) {
	return o.list(ctx, "key list", func(ctx context.Context, a *admin, _ []string) (any,
		error) {
		return listReceiptKeys(ctx, a)
	})
}

// functionReader reads the settings of functions.
type functionReader interface {
	GetFunctionConfiguration(
		context.Context, *lambda.GetFunctionConfigurationInput, ...func(*lambda.Options),
	) (*lambda.GetFunctionConfigurationOutput, error)
}

// adminTables are the tables that the commands use, by the variable that names each to a function, with that function
// and the name that the table has in a new installation, after the prefix.
var adminTables = map[string]struct{ function, name string }{
	"TABLE_ADMISSION":    {"admit", "admission"},
	"TABLE_BATCHES":      {"admit", "batches"},
	"TABLE_CLIENTS":      {"authorizer", "clients"},
	"TABLE_RECORDS":      {"entity", "records"},
	"TABLE_ENTITIES":     {"entity", "entities"},
	"TABLE_OUTBOUND":     {"outbound", "outbound"},
	"TABLE_TRANSACTIONS": {"ingest", "transactions"},
	"TABLE_WATCHLISTS":   {"watchlist", "watchlists"},
}

// tableNames returns the names of tables that the functions of an installation use: after a restore, a table has
// another name, and what a command wrote to the old one would be lost. A local cloud never restores, and functions is
// nil.
func tableNames(ctx context.Context, functions functionReader, prefix string, variables ...string) (map[string]string,
	error) {
	names := make([]string, len(variables))
	group, ctx := errgroup.WithContext(ctx)
	for i, variable := range variables {
		table := adminTables[variable]
		names[i] = prefix + "-" + table.name
		if functions == nil {
			continue
		}
		group.Go(func() error {
			function := prefix + "-" + table.function
			values, err := functionVariables(ctx, functions, function)
			switch {
			case err != nil:
				return err
			case values == nil:
				return nil
			case values[variable] == "":
				return fmt.Errorf("the function %s has no %s: it is of another release", function, variable)
			}
			names[i] = values[variable]
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i, variable := range variables {
		out[variable] = names[i]
	}
	return out, nil
}

// functionVariables returns the settings of a function, and nil if the installation is a local cloud that
// AWS_ENDPOINT_URL names: it serves no other operation than Invoke.
func functionVariables(ctx context.Context, functions functionReader, function string) (map[string]string, error) {
	c, err := functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &function})
	if missing := new(types.ResourceNotFoundException); errors.As(err, &missing) {
		return nil, fmt.Errorf("there is no function %s: name the Prefix of the installation with --prefix, "+
			"or another account or region", function)
	}
	if failure := smithy.APIError(nil); errors.As(err, &failure) &&
		failure.ErrorCode() == "UnknownOperationException" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of the function %s: %w", function, err)
	}
	if c.Environment == nil || c.Environment.Variables == nil {
		return map[string]string{}, nil
	}
	return c.Environment.Variables, nil
}

// tables is tableNames for the installation of the commands.
func (a *admin) tables(ctx context.Context, variables ...string) (map[string]string, error) {
	if a.isLocal {
		return tableNames(ctx, nil, a.prefix, variables...)
	}
	return tableNames(ctx, lambda.NewFromConfig(a.aws), a.prefix, variables...)
}
