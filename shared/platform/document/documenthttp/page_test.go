package documenthttp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/document/documenthttp"
)

// keyCounter counts the items that batch reads ask for.
type keyCounter struct{ keys int }

func (c *keyCounter) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "BatchGetItem") {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var in struct {
			RequestItems map[string]struct{ Keys []json.RawMessage }
		}
		if err := json.Unmarshal(text, &in); err != nil {
			return nil, err
		}
		for _, table := range in.RequestItems {
			c.keys += len(table.Keys)
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
	}
	return http.DefaultClient.Do(r)
}

// The cost of a page depends on its own documents alone: the other documents of the entity are counted, not read.
func TestPagesReadOnlyTheirDocuments(t *testing.T) {
	f := newFixture(t)
	counter := &keyCounter{}
	options := dynamotest.Start(t).Options()
	options.HTTPClient = counter
	f.store = documentdb.New(dynamodb.New(options), "test-documents")
	const n = 130
	for i := range n {
		d := document.Document{ID: fmt.Sprintf("d%03d", i), Tenant: tenant, EntityID: "e", FileName: "a.pdf",
			FileID: fmt.Sprintf("f%03d", i), CreatedAt: now.Add(time.Duration(i) * time.Second)}
		errtest.Fatal(t, f.store.Create(t.Context(), d, false))
	}
	for _, test := range []struct{ start, size, items int }{
		{0, 1, 1}, {0, 60, 60}, {5, 1, 1}, {100, 20, 20}, {120, 20, 10}, {129, 1, 1}, {130, 1, 0}, {1<<31 - 1, 5, 0},
		{0, 500, 130},
	} {
		counter.keys = 0
		var p documenthttp.PageReply
		code, body := f.send("POST", queries+"/entity/paged",
			fmt.Sprintf(`{"data":{"entityId":"e","startIndex":%d,"pageSize":%d}}`, test.start, test.size), &p)
		if code != 200 || len(p.Items) != test.items || p.TotalPagedItemsReturned != test.items {
			t.Errorf("%+v: got %d with %d items: %.300s", test, code, len(p.Items), body)
			continue
		}
		difftest.Equal(t, fmt.Sprintf("%+v", test), []any{test.start+test.items < n, n},
			[]any{p.HasMoreItems, p.ItemsCount})
		for i, item := range p.Items {
			difftest.Equal(t, fmt.Sprintf("%+v: item %d", test, i), fmt.Sprintf("d%03d", test.start+i), item.ID)
		}
		difftest.Equal(t, fmt.Sprintf("%+v: items were read: the documents of the page and their files", test),
			2*test.items, counter.keys)
	}
}
