package authdb

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/access/auth"
	"sluice/shared/kit/dynamo"
)

// tenantUpdate is the update of a tenant's row that makes a change of its settings.
type tenantUpdate struct {
	assignments, removals []string
	// names holds the attribute names by their placeholders, and values the values; nil if there are none.
	names  map[string]string
	values dynamo.Item
}

// The maps in a tenant's row whose members are attributes of their own.
const (
	settingsMap = "settings"
	limitsMap   = "limits"
)

// newTenantUpdate returns the update that makes a change. A setting that is nil stays as it is; a limit that is nil is
// removed.
func newTenantUpdate(c auth.TenantChange) tenantUpdate {
	u := tenantUpdate{names: map[string]string{}}
	if c.MaxPast != nil {
		u.assign(settingsMap, "max_past", dynamo.Number(int64(*c.MaxPast/time.Second)))
	}
	if c.MaxFuture != nil {
		u.assign(settingsMap, "max_future", dynamo.Number(int64(*c.MaxFuture/time.Second)))
	}
	if c.MainEntity != nil {
		u.assign(settingsMap, "main_entity", dynamo.String(string(*c.MainEntity)))
	}
	if c.Retention != nil {
		u.assign(settingsMap, "retention", dynamo.Number(int64(*c.Retention/time.Second)))
	}
	if c.Parquet != nil {
		u.assign(settingsMap, "parquet", dynamo.Bool(*c.Parquet))
	}
	if c.FourEyes != nil {
		u.assign("", "four_eyes", dynamo.Bool(*c.FourEyes))
	}
	for name, value := range c.Limits {
		if value != nil {
			u.assign(limitsMap, string(name), dynamo.Number(*value))
		} else {
			u.removals = append(u.removals, u.path(limitsMap, string(name)))
		}
	}
	return u
}

// assign sets an attribute of the row or, if in is not "", a member of that map.
func (u *tenantUpdate) assign(in, name string, value types.AttributeValue) {
	if u.values == nil {
		u.values = dynamo.Item{}
	}
	u.assignments = append(u.assignments, u.path(in, name)+" = :"+name)
	u.values[":"+name] = value
}

// path returns the path of an attribute by placeholders, which it adds to the names.
func (u *tenantUpdate) path(in, name string) string {
	u.names["#"+name] = name
	if in == "" {
		return "#" + name
	}
	u.names["#"+in] = in
	return "#" + in + ".#" + name
}

func (u *tenantUpdate) isEmpty() bool { return len(u.assignments)+len(u.removals) == 0 }

// expression returns the update expression.
func (u *tenantUpdate) expression() string {
	var clauses []string
	if len(u.assignments) > 0 {
		clauses = append(clauses, "SET "+strings.Join(u.assignments, ", "))
	}
	if len(u.removals) > 0 {
		clauses = append(clauses, "REMOVE "+strings.Join(u.removals, ", "))
	}
	return strings.Join(clauses, " ")
}
