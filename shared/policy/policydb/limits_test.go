package policydb_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/policytest"
)

// set gives an attribute of a row a value, in the place of many writes.
func (h *harness) set(owner, part, attribute string, value any) {
	h.Helper()
	v := dynamo.String(fmt.Sprint(value))
	if n, isNumber := value.(int64); isNumber {
		v = dynamo.Number(n)
	}
	_, err := h.db.UpdateItem(h.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(policytest.Table),
		Key: dynamo.Item{
			"owner": dynamo.String(h.tenant + "#" + owner), "part": dynamo.String(part)},
		UpdateExpression:          aws.String("SET #a = :v"),
		ExpressionAttributeNames:  map[string]string{"#a": attribute},
		ExpressionAttributeValues: dynamo.Item{":v": v},
	})
	h.must(err)
}

func (h *harness) setVersion(number int64, attribute string, value any) {
	h.Helper()
	h.set("policy#"+policyID, fmt.Sprintf("version#%010d", number), attribute, value)
}

// setContents gives a version that is not a draft contents, in the place of many changes.
func (h *harness) setContents(number int64, c policy.Contents) {
	h.Helper()
	text, digest, err := policy.EncodeContents(c)
	h.must(err)
	h.files.Put("policies/"+h.tenant+"/"+digest+".json.gz", pack(text))
	h.setVersion(number, "digest", digest)
	p, err := h.GetPolicy(h.Context(), h.tenant, policyID)
	h.must(err)
	if p.BaseVersion == number {
		h.set("policy#"+policyID, "policy", "base_digest", digest)
	}
}

func pack(text []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text)
	w.Close()
	return packed.Bytes()
}

// manyFields returns fields whose IDs begin with a prefix.
func manyFields(prefix string, n int) []policy.Field {
	fields := make([]policy.Field, n)
	for i := range fields {
		fields[i] = withVersion(field(fmt.Sprintf("%s%04d", prefix, i), "1"), 1)
	}
	return fields
}

func errorOf[R any](_ R, err error) error { return err }

func TestMostPolicies(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.set("policies", "count", "objects", int64(policy.MaxPolicies-1))
	h.create("last")
	p := policy.Policy{ID: "one more", Tenant: h.tenant, EntityType: "Company"}
	_, _, err := h.CreatePolicy(t.Context(), p, newDraft("first"))
	h.want(err, policy.ErrTooMany)
	_, err = h.GetPolicy(t.Context(), h.tenant, p.ID)
	h.want(err, policy.ErrNotFound)
	p.ID = "last"
	_, _, err = h.CreatePolicy(t.Context(), p, newDraft("first"))
	h.want(err, policy.ErrExists)
}

func TestMostDataGroups(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.set("groups", "count", "objects", int64(policy.MaxDataGroups-1))
	h.group("last", policy.DataGroupDraft)
	_, err := h.CreateDataGroup(t.Context(), h.tenant, policy.DataGroup{ID: "one more"})
	h.want(err, policy.ErrTooMany)
}

func TestMostDrafts(t *testing.T) {
	t.Parallel()
	h := start(t)
	for i := range policy.MaxDrafts - 1 {
		h.draft(fmt.Sprint("workspace ", i))
	}
	create := func() error {
		return errorOf(h.CreateDraft(t.Context(), h.tenant, policyID, newDraft("one more")))
	}
	h.want(create(), policy.ErrTooMany)
	h.publish(1)
	h.must(create())
	h.want(errorOf(h.CreateDraftFrom(t.Context(), h.tenant, policyID, 1, newDraft("two more"))), policy.ErrTooMany)
	h.must(h.Discard(t.Context(), h.tenant, policyID, 2))
	h.must(errorOf(h.CreateDraftFrom(t.Context(), h.tenant, policyID, 1, newDraft("two more"))))
}

// The fields of the base and of the draft count together; a deleted field makes room for another one.
func TestMostFields(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx, w := t.Context(), h.ws("second")
	h.publish(1)
	h.setContents(1, policy.Contents{EntityType: "Company", Fields: manyFields("f", 3)})
	number := h.draft("second").Number
	h.setVersion(number, "fields", int64(policy.MaxFields-5))
	h.add("second", "a", "b")
	h.want(errorOf(h.AddField(ctx, w, field("c", "1"))), policy.ErrTooMany)
	h.must(errorOf(h.UpdateField(ctx, w, field("f0000", "2"))))
	h.must(errorOf(h.DeleteField(ctx, w, "f0001")))
	h.add("second", "c")
	h.want(errorOf(h.AddField(ctx, w, field("d", "1"))), policy.ErrTooMany)
	h.want(errorOf(h.RevertField(ctx, w, "f0001")), policy.ErrTooMany)
	h.must(errorOf(h.DeleteField(ctx, w, "a")))
	h.must(errorOf(h.RevertField(ctx, w, "f0001")))
	h.want(errorOf(h.AddField(ctx, w, field("d", "1"))), policy.ErrTooMany)
}

func TestMostJurisdictions(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx, w := t.Context(), h.ws("first")
	h.setVersion(1, "jurisdictions", int64(policy.MaxJurisdictions-1))
	h.must(errorOf(h.AddJurisdiction(ctx, w, policy.Jurisdiction{ID: "a"})))
	h.want(errorOf(h.AddJurisdiction(ctx, w, policy.Jurisdiction{ID: "b"})), policy.ErrTooMany)
	h.want(errorOf(h.UpdateJurisdiction(ctx, w, policy.Jurisdiction{ID: "b"})), policy.ErrNotFound)
	h.must(errorOf(h.UpdateJurisdiction(ctx, w, policy.Jurisdiction{ID: "a", Name: "A"})))
	h.must(errorOf(h.DeleteJurisdiction(ctx, w, "a")))
	h.must(errorOf(h.AddJurisdiction(ctx, w, policy.Jurisdiction{ID: "b"})))
	h.must(errorOf(h.RevertJurisdiction(ctx, w, "b")))
	h.want(errorOf(h.RevertJurisdiction(ctx, w, "b")), policy.ErrNotFound)
}

// sized returns a field whose JSON, as it is stored, has a number of bytes.
func sized(t *testing.T, id string, size int) policy.Field {
	f := field(id, "1")
	f.Description = "x"
	text := errtest.Must(json.Marshal(withVersion(f, 1)))(t)
	f.Description = strings.Repeat("x", size-len(text)+1)
	return f
}

func TestLargestObjects(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx, w := t.Context(), h.ws("first")
	h.must(errorOf(h.AddField(ctx, w, sized(t, "a", policy.MaxFieldBytes))))
	h.want(errorOf(h.AddField(ctx, w, sized(t, "b", policy.MaxFieldBytes+1))), policy.ErrTooLarge)
	h.want(errorOf(h.UpdateField(ctx, w, sized(t, "a", policy.MaxFieldBytes+1))), policy.ErrTooLarge)
	long := strings.Repeat("x", policy.MaxFieldBytes)
	h.want(errorOf(h.AddJurisdiction(ctx, w, policy.Jurisdiction{ID: "j", Name: long})), policy.ErrTooLarge)
	h.want(errorOf(h.CreateDataGroup(ctx, h.tenant, policy.DataGroup{ID: "g", Name: long})), policy.ErrTooLarge)
	g := h.group("g", policy.DataGroupDraft)
	g.Name = long
	h.want(errorOf(h.SaveDataGroup(ctx, h.tenant, g)), policy.ErrTooLarge)
	h.want(errorOf(h.AddDataGroupVersion(ctx, h.tenant, g)), policy.ErrTooLarge)
}

// All changes of a draft together are bounded, too, so that its contents can be read.
func TestLargestDraft(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx, w := t.Context(), h.ws("first")
	h.setVersion(1, "bytes", int64(policy.MaxBundleBytes-1000))
	h.must(errorOf(h.AddField(ctx, w, sized(t, "a", 600))))
	h.want(errorOf(h.AddField(ctx, w, sized(t, "b", 401))), policy.ErrTooLarge)
	h.must(errorOf(h.AddField(ctx, w, sized(t, "b", 400))))
	h.want(errorOf(h.UpdateField(ctx, w, sized(t, "b", 401))), policy.ErrTooLarge)
	h.must(errorOf(h.UpdateField(ctx, w, sized(t, "a", 599))))
	h.must(errorOf(h.UpdateField(ctx, w, sized(t, "b", 401))))
	h.must(errorOf(h.DeleteField(ctx, w, "b")))
	h.must(errorOf(h.AddField(ctx, w, sized(t, "c", 401))))
}

// The fields of data groups count when a version is published.
func TestMostFieldsOfAPublishedVersion(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.publish(1)
	h.setContents(1, policy.Contents{EntityType: "Company", Fields: manyFields("f", policy.MaxFields-3)})
	number := h.draft("second").Number
	f := field("group", "1")
	f.FieldType, f.FieldTypeID = policy.TypeCustom, "g"
	h.must(errorOf(h.AddField(t.Context(), h.ws("second"), f)))
	g := h.group("g", policy.DataGroupPublished, manyFields("g", 3)...)
	publish := func() error {
		return errorOf(h.Publish(t.Context(), h.tenant, policyID, number, policy.Publication{By: stamp(1)}))
	}
	h.want(publish(), policy.ErrTooMany)
	difftest.Equal(t, "after a publication that was refused", policy.Draft,
		errtest.Must(h.GetVersion(t.Context(), h.tenant, policyID, number))(t).Status)
	g.Fields = g.Fields[:2]
	g, err := h.AddDataGroupVersion(t.Context(), h.tenant, g)
	h.must(err)
	h.move(g, policy.DataGroupPublished)
	h.must(publish())
}
