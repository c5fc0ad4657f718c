package policydb_test

import (
	"testing"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/policydb"
)

// The sensitive fields of published versions hide their data keys from callers without their layers, from the moment of
// the publication on, and one row is read for each request that follows.
func TestSensitiveKeys(t *testing.T) {
	t.Parallel()
	h := start(t)
	p := &process{}
	keys := policydb.NewSensitiveKeys(h.newProcess(p))
	sensitive := func(id string, layers ...string) policy.Field {
		f := field(id, id)
		f.IsSensitiveData, f.AccessLayers = true, &policy.AccessLayers{BusinessRelated: layers}
		return f
	}
	want := func(reads int64, caller string, want ...string) {
		t.Helper()
		before := p.reads.Load()
		got, err := keys.HiddenFrom(t.Context(), tenant, access.Layers{BusinessRelated: []string{caller}}.OrDefault())
		h.must(err)
		difftest.Equal(t, "result", want, got)
		difftest.Equal(t, "reads", reads, p.reads.Load()-before)
	}
	want(3, "Retail") // the count, the list, the policies
	open, group := field("open", "open"), sensitive("of group", "Compliance")
	open.AccessLayers = &policy.AccessLayers{BusinessRelated: []string{"Compliance"}}
	for _, f := range []policy.Field{open, sensitive("taxId", "Compliance"),
		sensitive("salary", "Compliance", "Retail"), sensitive("all", access.Enterprise), sensitive("none")} {
		h.must(errorOf(h.AddField(t.Context(), h.ws("first"), f)))
	}
	want(1, "Retail")
	h.publish(1)
	want(4, "Retail", "taxId") // and the contents
	want(1, "Retail", "taxId")
	want(1, "Other", "salary", "taxId")
	want(1, "Compliance")

	// Another policy adds to it, and the contents of the first one are not read again.
	h.create("other")
	h.group("g", policy.DataGroupPublished, group)
	list := field("list", "list")
	list.FieldType, list.FieldTypeID = policy.TypeCollection, "g"
	w := policy.Workspace{Tenant: tenant, PolicyID: "other", ID: "first"}
	h.must(errorOf(h.AddField(t.Context(), w, list)))
	h.must(errorOf(h.Publish(t.Context(), tenant, "other", 1, policy.Publication{By: stamp(1)})))
	want(4, "Retail", "of group", "taxId")

	// The last published version counts alone, and an archived one not at all.
	h.draft("second")
	h.must(errorOf(h.DeleteField(t.Context(), h.ws("second"), "taxId")))
	want(1, "Retail", "of group", "taxId")
	h.publish(2)
	want(4, "Other", "of group", "salary")
	h.must(errorOf(h.Archive(t.Context(), tenant, "other", 1, "", stamp(2))))
	want(3, "Other", "salary")
	difftest.Equal(t, "another tenant", 0,
		len(errtest.Must(keys.HiddenFrom(t.Context(), "another", access.Layers{}))(t)))
}
