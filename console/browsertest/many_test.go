package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sluice/shared/kit/errtest"
)

// multiplyBatch puts copies of a batch that has ended into the table of batches, one a minute older than the other,
// with names such as "batch 00042". One, older than hundreds of others, has not ended. The copies have only what lists
// show; nothing else of them exists.
func (n *tenant) multiplyBatch(id string, copies int) {
	n.Helper()
	d := suite.cloud.Descriptor
	db := dynamodb.New(dynamodb.Options{Region: d.Region, BaseEndpoint: &d.DynamoDBURL,
		Credentials: credentials.NewStaticCredentialsProvider(d.AccessKeyID, d.SecretAccessKey, "")})
	table := d.Prefix + "-batches"
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	original, err := db.GetItem(n.Context(), &dynamodb.GetItemInput{TableName: &table,
		Key: map[string]types.AttributeValue{"id": text(id), "part": text("batch")}})
	if err != nil || original.Item == nil {
		n.Fatalf("the row of batch %s: %v, %v", id, original, err)
	}
	var writes []types.WriteRequest
	for i := range copies {
		item := map[string]types.AttributeValue{}
		for name, value := range original.Item {
			item[name] = value
		}
		at := time.Now().Add(-time.Duration(i+1) * time.Minute).UTC()
		item["id"], item["name"] = text(newIDAt(at)), text(fmt.Sprintf("batch %05d", i))
		item["created_at"], item["updated_at"] = text(at.Format(time.RFC3339)), text(at.Format(time.RFC3339))
		if i == copies/20 {
			item["status"] = text("IN_PROGRESS")
		}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	group, ctx := errgroup.WithContext(n.Context())
	group.SetLimit(8)
	for some := range slices.Chunk(writes, 25) {
		group.Go(func() error {
			out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{table: some}})
			if err == nil && len(out.UnprocessedItems) > 0 {
				err = fmt.Errorf("%d rows were not written", len(out.UnprocessedItems[table]))
			}
			return err
		})
	}
	errtest.Fatal(n, group.Wait())
}

// newIDAt returns a new ID of a batch that was created at a time.
func newIDAt(at time.Time) string {
	u := uuid.Must(uuid.NewV7())
	for b, ms := 5, at.UnixMilli(); b >= 0; b, ms = b-1, ms>>8 {
		u[b] = byte(ms)
	}
	return u.String()
}

// Ten thousand batches are listed as they are scrolled to, of which only those in view are in the document.
func TestTenThousandBatches(t *testing.T) {
	t.Parallel()
	const copies, maxRows, maxHeap = 10_000, 120, 60e6
	tenant := newTenant(t)
	tenant.admin(nil, "tenant", "set", tenant.id, "limits=none") // a person takes longer
	tenant.multiplyBatch(tenant.upload(tenant.generate(3, 0)), copies)
	p := tenant.open("/batches")
	p.waitFor("link", "batch 00000")
	before := p.heap()
	p.click("row", "batch 00003")
	p.waitForHeading("")
	p.back()
	p.waitFor("link", "batch 00000")

	started := time.Now()
	evaluate[any](p, `document.querySelector("[role=grid]").focus()`)
	const all = "10,001 batches: all of them"
	for rows := 0; !strings.Contains(p.text(), all); {
		p.press("End")
		p.eventually("more batches", func() (bool, string) {
			last := rows
			rows = evaluate[int](p, `Number(document.querySelector("[role=grid]").getAttribute("aria-rowcount"))`)
			return rows > last || strings.Contains(p.text(), all), fmt.Sprintf("there are %d rows", rows)
		})
	}
	p.press("End")
	p.waitFor("link", fmt.Sprintf("batch %05d", copies-1))
	loaded := time.Since(started)
	if rows := evaluate[int](p, `document.querySelectorAll("[role=row]").length`); rows > maxRows {
		t.Errorf("%d rows are in the document, want at most %d", rows, maxRows)
	}
	after := p.heap()
	if after > maxHeap {
		t.Errorf("the page holds %.0f MB, want at most %.0f", after/1e6, maxHeap/1e6)
	}
	// Scrolls from the end to the beginning in 40 steps, one a frame.
	frames := evaluate[[]float64](p, `new Promise(done => {
		const body = document.querySelector("[role=grid]"), whole = body.scrollHeight, took = [];
		let last = performance.now(), step = 40;
		const next = now => {
			took.push(now - last);
			last = now;
			body.scrollTop = whole * --step / 40;
			if (step > 0) requestAnimationFrame(next);
			else done(took.slice(1).sort((a, b) => a - b));
		};
		requestAnimationFrame(next);
	})`)
	p.waitFor("link", "batch 00000")
	t.Logf("%d batches were loaded in %v; heap %.1f MB before and %.1f MB after; a frame of scrolling took %.0f ms, "+
		"the longest %.0f ms", copies, loaded.Round(time.Millisecond), before/1e6, after/1e6,
		frames[len(frames)/2], frames[len(frames)-1])
	p.checkAccessible()

	p.goTo("/") // the batch that has not ended is far from the latest ones
	p.waitForText("Counted among the latest 1,000 batches")
	open := p.waitFor("list", "Batches that have not ended")
	p.waitFor("link", fmt.Sprintf("batch %05d", copies/20), open)
}

// heap returns the size of the page's objects in bytes, without those that are garbage.
func (p *tab) heap() float64 {
	p.Helper()
	mustCall(p, heapprofiler.CollectGarbage, cdp.Empty{})
	return mustCall(p, runtime.GetHeapUsage, cdp.Empty{}).UsedSize
}
