package admin

import (
	"context"
	"errors"
	"time"
)

// Operator reads lists for the console as 'sluice admin' does, and has each reading recorded in the audit trail
// as it does.
type Operator struct {
	// IsLocal means that the installation is the local cloud on a data folder, "" for the default one.
	IsLocal bool
	Data    string
	// Prefix is that of an installation on AWS; "" for the default one.
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
