package authdb_test

import (
	"fmt"
	"testing"

	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/auth/authtest"
	"sluice/shared/kit/dynamo/dynamotest"
)

func TestClients(t *testing.T) {
	authtest.Conform(t, func(t *testing.T) auth.Registry { return authdb.New(dynamotest.Start(t), "test-clients") })
}

// A list goes on over the pages of a scan, which end at 1 MB.
func TestClientsOverPages(t *testing.T) {
	r := authdb.New(dynamotest.Start(t), "test-clients")
	if err := r.CreateTenant(t.Context(), auth.Tenant{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	const n = 8
	salt := make([]byte, 200_000)
	for i := range n {
		if err := r.CreateClient(t.Context(), auth.Client{ID: fmt.Sprint(n - 1 - i), Tenant: "t",
			Secret: auth.SecretHash{Salt: salt}}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := r.Clients(t.Context())
	if err != nil || len(all) != n {
		t.Fatalf("%d clients, %v", len(all), err)
	}
	for i, c := range all {
		if c.ID != fmt.Sprint(i) {
			t.Errorf("client %d has ID %s", i, c.ID)
		}
	}
}
