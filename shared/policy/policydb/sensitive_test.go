package policydb_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
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
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if got := p.reads.Load() - before; got != reads {
			t.Errorf("got %d reads, want %d", got, reads)
		}
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
	if got, err := keys.HiddenFrom(t.Context(), "another", access.Layers{}); len(got) != 0 || err != nil {
		t.Errorf("another tenant: got %v, %v", got, err)
	}
}
