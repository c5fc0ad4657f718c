package lineindexdb_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"golang.org/x/sync/errgroup"

	"sluice/shared/access/auth/fakekms"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindexdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/sealed"
)

// fixedBox has one key, which it seals as the same text every time.
type fixedBox struct{ key []byte }

func (b *fixedBox) Seal(_ context.Context, _, _ string, plaintext []byte) ([]byte, error) {
	b.key = bytes.Clone(plaintext)
	return []byte("sealed"), nil
}

func (b *fixedBox) Open(context.Context, string, string, []byte) ([]byte, error) { return b.key, nil }

func newBox(t *testing.T) *sealed.Box {
	t.Helper()
	s := errtest.Must(fakekms.New(t.TempDir()))(t)
	errtest.Fatal(t, s.EnsureSymmetric("master"))
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return sealed.New(kms.New(kms.Options{Region: "local", BaseEndpoint: &web.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}), "master")
}

// Several workers that make the key of a tenant at the same time get the same one, also later and elsewhere.
func TestMakeAtTheSameTime(t *testing.T) {
	s, box := lineindexdb.New(dynamotest.Start(t), table), newBox(t)
	newKeys := func() *lineindexdb.Keys { return lineindexdb.NewKeys(s, box, sealed.LineIndex, time.Now) }
	_, _, isFound, err := newKeys().Find(t.Context(), "t1")
	errtest.Fatal(t, err)
	difftest.Equal(t, "found before it is made", false, isFound)
	made := make([]lineindex.Key, 8)
	var g errgroup.Group
	for i := range made {
		g.Go(func() (err error) {
			made[i], err = newKeys().Make(t.Context(), "t1")
			return err
		})
	}
	errtest.Fatal(t, g.Wait())
	keys := newKeys()
	for i, key := range made {
		if key != made[0] || key == (lineindex.Key{}) {
			t.Errorf("key %d is %x, the first one %x", i, key, made[0])
		}
	}
	for range 2 {
		difftest.Equal(t, "made again", made[0], errtest.Must(keys.Make(t.Context(), "t1"))(t))
	}
	if other := errtest.Must(keys.Make(t.Context(), "t2"))(t); other == made[0] {
		t.Error("two tenants have the same key")
	}
	difftest.Equal(t, "tenants", []string{"t1", "t2"}, errtest.Must(s.Tenants(t.Context()))(t))
}

// A sealed key that is put into the item of another tenant cannot be opened there, and no other key takes its place.
func TestKeyOfAnotherTenant(t *testing.T) {
	db := dynamotest.Start(t)
	items := dynamo.Table{DB: db, Name: table}
	keys := lineindexdb.NewKeys(lineindexdb.New(db, table), newBox(t), sealed.LineIndex, time.Now)
	errtest.Fatal(t, errtest.Of(keys.Make(t.Context(), "t1")))
	item := errtest.Must(items.Get(t.Context(), dynamo.Key("t1", "key")))(t)
	item["owner"] = dynamo.String("t2")
	errtest.Fatal(t, items.Apply(t.Context(), "put", items.Put(item, "", nil)))
	_, _, _, err := keys.Find(t.Context(), "t2")
	errtest.Fails(t, "find", err, "open key")
	errtest.Fails(t, "make", errtest.Of(keys.Make(t.Context(), "t2")), "open key")
}
