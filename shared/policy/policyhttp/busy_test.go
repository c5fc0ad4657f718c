package policyhttp_test

import (
	"context"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/policy"
	"sluice/shared/policy/policyhttp"
	"sluice/shared/policy/policytest"
)

// busyStore is a store that others change all the time.
type busyStore struct{ policy.Store }

func (busyStore) ReadContents(context.Context, string, string, int64) (policy.Snapshot, error) {
	return policy.Snapshot{}, policy.ErrChanged
}

func (busyStore) Publish(context.Context, string, string, int64, policy.Publication) (policy.Version, error) {
	return policy.Version{}, policy.ErrChanged
}

// Repeated overtaking is a conflict for a command and unavailability for a query.
func TestBusyPolicies(t *testing.T) {
	t.Parallel()
	a := newAPIOn(t, busyStore{policytest.NewStore(t)})
	id := a.newPolicy()
	a.refuse(409, "CONFLICT", "PUT", commands+"/"+id+"/publish?workspaceId=w", "")
	a.refuse(503, "INTERNAL_SERVER_ERROR", "POST", queries+"/"+id+"/version/1/fields", `{}`)
}

// overtakenStore fails the next saves of data groups as if others had saved them first.
type overtakenStore struct {
	policy.Store
	overtakes int
}

func (s *overtakenStore) SaveDataGroup(ctx context.Context, tenant string, g policy.DataGroup) (policy.DataGroup,
	error) {
	if s.overtakes > 0 {
		s.overtakes--
		return g, policy.ErrChanged
	}
	return s.Store.SaveDataGroup(ctx, tenant, g)
}

// A save of a data group without a revision is tried eight times when others save it at the same time.
func TestBusyDataGroups(t *testing.T) {
	t.Parallel()
	store := &overtakenStore{Store: policytest.NewStore(t)}
	a := newAPIOn(t, store)
	var g policyhttp.GroupChanged
	a.succeed("POST", groupCommands, `{"name":"g",`+oneField+`}`, &g)
	version := groupCommands + "/" + g.DataGroupID + "/version/1"
	store.overtakes = 7
	a.succeed("PUT", version, `{"name":"h",`+oneField+`}`, nil)
	store.overtakes = 8
	a.refuse(409, "CONFLICT", "PUT", version, `{"name":"i",`+oneField+`}`)
	difftest.Equal(t, "attempts were not made", 0, store.overtakes)
}
