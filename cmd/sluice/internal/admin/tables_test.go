package admin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

// deployedFunctions are the variables of functions by their names.
type deployedFunctions map[string]map[string]string

func (f deployedFunctions) GetFunctionConfiguration(
	_ context.Context, in *lambda.GetFunctionConfigurationInput, _ ...func(*lambda.Options),
) (*lambda.GetFunctionConfigurationOutput, error) {
	switch variables, ok := f[*in.FunctionName]; {
	case f == nil:
		return nil, &smithy.GenericAPIError{Code: "UnknownOperationException"}
	case !ok:
		return nil, &types.ResourceNotFoundException{}
	case variables == nil:
		return nil, errors.New("AccessDenied")
	default:
		return &lambda.GetFunctionConfigurationOutput{Environment: &types.EnvironmentResponse{Variables: variables}},
			nil
	}
}

// The commands use the tables that the functions use, also after a restore.
func TestTablesAreThoseOfTheFunctions(t *testing.T) {
	deployed := deployedFunctions{
		"x-authorizer": {"TABLE_CLIENTS": "x-clients-20261122"}, "x-entity": {"TABLE_RECORDS": "x-records",
			"TABLE_ENTITIES": "x-e"},
		"x-outbound": {}, "x-watchlist": nil,
	}
	for _, test := range []struct {
		name      string
		functions functionReader
		variables []string
		want      map[string]string
		problem   string
	}{
		{"a local cloud", nil, []string{"TABLE_CLIENTS", "TABLE_WATCHLISTS"},
			map[string]string{"TABLE_CLIENTS": "x-clients", "TABLE_WATCHLISTS": "x-watchlists"}, ""},
		{"a local cloud without its data folder", deployedFunctions(nil), []string{"TABLE_CLIENTS"},
			map[string]string{"TABLE_CLIENTS": "x-clients"}, ""},
		{"restored", deployed, []string{"TABLE_CLIENTS", "TABLE_RECORDS", "TABLE_ENTITIES"},
			map[string]string{"TABLE_CLIENTS": "x-clients-20261122", "TABLE_RECORDS": "x-records",
				"TABLE_ENTITIES": "x-e"}, ""},
		{"no function", deployedFunctions{}, []string{"TABLE_CLIENTS"}, nil, "there is no function x-authorizer"},
		{"no variable", deployed, []string{"TABLE_OUTBOUND"}, nil, "no TABLE_OUTBOUND"},
		{"not allowed", deployed, []string{"TABLE_WATCHLISTS"}, nil, "AccessDenied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := tableNames(t.Context(), test.functions, "x", test.variables...)
			if diff := cmp.Diff(test.want, got); diff != "" || (err == nil) != (test.problem == "") ||
				err != nil && !strings.Contains(err.Error(), test.problem) {
				t.Errorf("tables (-want +got):\n%s\nand %v, want %q", diff, err, test.problem)
			}
		})
	}
}
