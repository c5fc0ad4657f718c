package authdb_test

import (
	"fmt"
	"testing"

	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/auth/authtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

func TestClients(t *testing.T) {
	authtest.Conform(t, func(t *testing.T) auth.Registry { return authdb.New(dynamotest.Start(t), "test-clients") })
}

// A list goes on over the pages of a scan, which end at 1 MB.
func TestClientsOverPages(t *testing.T) {
	r := authdb.New(dynamotest.Start(t), "test-clients")
	errtest.Fatal(t, r.CreateTenant(t.Context(), auth.Tenant{ID: "t"}))
	const n = 8
	salt := make([]byte, 200_000)
	for i := range n {
		errtest.Fatal(t, r.CreateClient(t.Context(), auth.Client{ID: fmt.Sprint(n - 1 - i), Tenant: "t",
			Secret: auth.SecretHash{Salt: salt}}))
	}
	all := errtest.Must(r.Clients(t.Context()))(t)
	difftest.Equal(t, "clients", n, len(all))
	for i, c := range all {
		difftest.Equal(t, fmt.Sprintf("client %d has ID", i), fmt.Sprint(i), c.ID)
	}
}
