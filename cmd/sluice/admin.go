package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"

	"sluice/shared/auth/authdb"
	"sluice/shared/entity/entitydb"
	"sluice/shared/setup"
)

const adminUsage = `sluice admin: tenants, clients and entities

  tenant create [--id UUID]          a new tenant; the batch feature is off
  tenant list
  tenant enable-batch ID
  tenant disable-batch ID
  client create --tenant ID [--permission NAME]... [--geographic LAYER]... [--business-related LAYER]...
                                     a new client with these permissions (none named: all) and access layers
                                     (none named: Global, Enterprise); its secret is shown once
  client list
  client disable ID                  it gets no token any more, and its tokens stop working
  entities import FILE [--tenant ID] onboard entities: JSON Lines of {"id": "...", "lifecycleStatus": "Compliant"}
  key rotate [--token-lifetime SECONDS]
                                     a new signing key takes over once every cache of the old key set has ended

  --data DIR     the data folder of a running local cloud (SLUICE_DATA, else .sluice if it is there);
                 without one the usual AWS settings count
  --prefix NAME  the stack's Prefix parameter (sluice)
`

// admin is one run of an admin command.
type admin struct {
	registry *authdb.Registry
	entities *entitydb.Statuses
	kms      *kms.Client
	data     string // folder of a local cloud; "": the default one if it is there
	prefix   string
	tenant   string // --tenant, else the local cloud's; "" on AWS
	args     []string
	now      time.Time

	permissions   list
	geographic    list
	business      list
	id            string
	tokenLifetime int
}

// errUsage is a command that could not be understood.
var errUsage = errors.New("see 'sluice admin help'")

func runAdmin(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		fmt.Fprint(stdout, adminUsage)
		return 0
	}
	out, err := adminCommand(ctx, args)
	if err != nil {
		fmt.Fprintln(stderr, "sluice admin:", err)
		return 2
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(out); err != nil {
		fmt.Fprintln(stderr, "sluice admin:", err)
		return 2
	}
	return 0
}

// adminCommands are the commands by name, and whether they take an argument.
var adminCommands = map[string]struct {
	run      func(context.Context, *admin) (any, error)
	argument bool
}{
	"tenant create":        {createTenant, false},
	"tenant list":          {listTenants, false},
	"tenant enable-batch":  {func(ctx context.Context, a *admin) (any, error) { return setBatch(ctx, a, true) }, true},
	"tenant disable-batch": {func(ctx context.Context, a *admin) (any, error) { return setBatch(ctx, a, false) }, true},
	"client create":        {createClient, false},
	"client list":          {listClients, false},
	"client disable":       {disableClient, true},
	"entities import":      {importEntities, true},
	"key rotate":           {rotateKey, false},
}

func adminCommand(ctx context.Context, args []string) (any, error) {
	a := &admin{now: time.Now().UTC()}
	words, err := a.parse(args)
	if err != nil {
		return nil, err
	}
	if len(words) < 2 {
		return nil, errUsage
	}
	name := words[0] + " " + words[1]
	command, ok := adminCommands[name]
	if !ok {
		return nil, fmt.Errorf("no command %q; %w", name, errUsage)
	}
	if a.args = words[2:]; len(a.args) > 0 && !command.argument {
		return nil, fmt.Errorf("%s takes no argument; %w", name, errUsage)
	}
	if err := a.connect(ctx); err != nil {
		return nil, err
	}
	return command.run(ctx, a)
}

// parse reads the flags, which may stand before, between and behind the words of the command, and returns the words.
func (a *admin) parse(args []string) ([]string, error) {
	flags := flag.NewFlagSet("admin", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&a.data, "data", os.Getenv("SLUICE_DATA"), "")
	flags.StringVar(&a.prefix, "prefix", "", "")
	flags.StringVar(&a.tenant, "tenant", "", "")
	flags.StringVar(&a.id, "id", uuid.NewString(), "")
	flags.IntVar(&a.tokenLifetime, "token-lifetime", 3600, "")
	flags.Var(&a.permissions, "permission", "")
	flags.Var(&a.geographic, "geographic", "")
	flags.Var(&a.business, "business-related", "")
	var words []string
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, fmt.Errorf("%w; %w", err, errUsage)
		}
		if args = flags.Args(); len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	return words, nil
}

// connect finds the stores.
func (a *admin) connect(ctx context.Context) error {
	cfg, err := a.settings(ctx)
	if err != nil {
		return err
	}
	db := dynamodb.NewFromConfig(cfg)
	a.registry = authdb.New(db, a.prefix+"-clients")
	a.entities = entitydb.NewStatuses(db, a.prefix+"-entities")
	a.kms = kms.NewFromConfig(cfg)
	return nil
}

// settings finds a running local cloud by its data folder; without one the usual AWS settings count.
func (a *admin) settings(ctx context.Context) (aws.Config, error) {
	local, err := findLocalCloud(a.data)
	if err != nil {
		return aws.Config{}, err
	}
	cfg, err := setup.AWS(ctx)
	if err != nil {
		return cfg, err
	}
	if local == nil {
		if a.prefix == "" {
			a.prefix = "sluice"
		}
		return cfg, nil
	}
	cfg.BaseEndpoint = &local.AWSEndpointURL
	cfg.Region = local.Region
	cfg.Credentials = credentials.NewStaticCredentialsProvider(local.AccessKeyID, local.SecretAccessKey, "")
	if a.prefix == "" {
		a.prefix = local.Prefix
	}
	if a.tenant == "" {
		a.tenant = local.TenantID
	}
	return cfg, nil
}

// one returns the single argument of a command.
func (a *admin) one(name string) (string, error) {
	if len(a.args) != 1 {
		return "", fmt.Errorf("exactly one %s is needed; %w", name, errUsage)
	}
	return a.args[0], nil
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return fmt.Sprint(*l) }

func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}
