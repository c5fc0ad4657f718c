package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"
)

// functionReader reads the settings of functions.
type functionReader interface {
	GetFunctionConfiguration(
		context.Context, *lambda.GetFunctionConfigurationInput, ...func(*lambda.Options),
	) (*lambda.GetFunctionConfigurationOutput, error)
}

// adminTables are the tables that the commands use, by the variable that names each to a function, with that function
// and the name that the table has in a new installation, after the prefix.
var adminTables = map[string]struct{ function, name string }{
	"TABLE_BATCHES":    {"receipt", "batches"},
	"TABLE_CLIENTS":    {"authorizer", "clients"},
	"TABLE_RECORDS":    {"entity", "records"},
	"TABLE_ENTITIES":   {"entity", "entities"},
	"TABLE_OUTBOUND":   {"outbound", "outbound"},
	"TABLE_WATCHLISTS": {"watchlist", "watchlists"},
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
			c, err := functions.GetFunctionConfiguration(ctx,
				&lambda.GetFunctionConfigurationInput{FunctionName: &function})
			if missing := new(types.ResourceNotFoundException); errors.As(err, &missing) {
				return fmt.Errorf("there is no function %s: name the Prefix of the installation with --prefix, "+
					"or another account or region", function)
			}
			if failure := smithy.APIError(nil); errors.As(err, &failure) &&
				failure.ErrorCode() == "UnknownOperationException" {
				return nil // a local cloud that AWS_ENDPOINT_URL names: it serves no other operation than Invoke
			}
			if err != nil {
				return fmt.Errorf("read which tables the function %s uses: %w", function, err)
			}
			if c.Environment == nil || c.Environment.Variables[variable] == "" {
				return fmt.Errorf("the function %s has no %s: it is of another release", function, variable)
			}
			names[i] = c.Environment.Variables[variable]
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

// tables is tableNames for the installation of the commands.
func (a *admin) tables(ctx context.Context, variables ...string) (map[string]string, error) {
	if a.isLocal {
		return tableNames(ctx, nil, a.prefix, variables...)
	}
	return tableNames(ctx, lambda.NewFromConfig(a.aws), a.prefix, variables...)
}
