package main

import (
	"context"
	"errors"
	"time"
)

// consoleOperator reads lists for the console as 'sluice admin' does, and has each reading recorded in the audit trail
// as it does.
type consoleOperator struct {
	// isLocal means that the installation is the local cloud on a data folder, "" for the default one.
	isLocal bool
	data    string
	// prefix is that of an installation on AWS; "" for the default one.
	prefix string
}

// list runs the command that prints a list.
func (o consoleOperator) list(
	ctx context.Context, name string, run func(ctx context.Context, a *admin, args []string) (any, error),
) (any, error) {
	a := &admin{data: o.data, prefix: o.prefix, hasNoDefaultTenant: true, now: time.Now().UTC(), isOnAWS: !o.isLocal}
	result, err := a.act(ctx, name, nil, run)
	if errors.Is(err, errNotRecorded) && result != nil {
		err = nil // the list was read, and its beginning is recorded
	}
	return result, err
}

// Tenants lists the tenants.
func (o consoleOperator) Tenants(ctx context.Context) (any, error) {
	return o.list(ctx, "tenant list", listTenants)
}

// Clients lists the clients of all tenants.
func (o consoleOperator) Clients(ctx context.Context) (any, error) {
	return o.list(ctx, "client list", listClients)
}

// Keys lists the keys that sign access tokens.
func (o consoleOperator) Keys(ctx context.Context) (any, error) {
	return o.list(ctx, "key list", listKeys)
}

// ReceiptKeys lists the keys that sign receipts.
func (o consoleOperator) ReceiptKeys(ctx context.Context) (any, error) {
	return o.list(ctx, "key list", func(ctx context.Context, a *admin, _ []string) (any,
		error) {
		return listReceiptKeys(ctx, a)
	})
}
