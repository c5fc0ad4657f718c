// Find measures how long the endpoint find takes over the lines of many batches on a local cloud: for an ID of an old
// batch, for one of the newest, which is in no segment that was merged, and for one that no line has; the first call
// for an ID and the tenth. The segments of the batches are made by the code of the function index, not by batches that
// are uploaded.
//
// It fails if the median passes 300 ms or the 99th percentile a second.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sluice/client"
	"sluice/internal/testcloud"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindexdb"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/objects"
	"sluice/shared/kit/sealed"
)

// The marks of issue 33.
const maxMedian, maxP99 = 300 * time.Millisecond, time.Second

func main() {
	batches := flag.Int("batches", 10_000, "make `N` batches")
	lines := flag.Int("lines", 100, "`N` lines in each of them")
	samples := flag.Int("samples", 30, "`N` IDs of each kind")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *batches, *lines, *samples); err != nil {
		fmt.Fprintln(os.Stderr, "bench-find:", err)
		os.Exit(1)
	}
}

// bench is a local cloud with the index of one tenant.
type bench struct {
	cloud    *testcloud.Cloud
	client   *client.Client
	indexer  *lineindex.Indexer
	searcher *lineindex.Searcher
	batches  *batchdb.Store
	key      lineindex.Key
	requests atomic.Int64
	began    time.Time
}

func run(ctx context.Context, out io.Writer, batches, lines, samples int) (err error) {
	dir, err := os.MkdirTemp("", "sluice-find-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cloud, err := testcloud.Start(ctx, dir, nil, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cloud.Stop()) }()
	b, err := newBench(ctx, cloud)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.addBatches(ctx, batches, lines); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d batches of %d lines, indexed and merged as they ended, in %.0f s\n", batches, lines,
		time.Since(began).Seconds())
	if err := b.measure(ctx, out, "as they ended", batches, lines, samples); err != nil {
		return err
	}
	if err := b.indexer.Maintain(ctx, cloud.TenantID); err != nil {
		return err
	}
	for i := range 3 { // the newest ones are in segments of their own
		if err := b.addBatch(ctx, batches+i, lines); err != nil {
			return err
		}
	}
	return b.measure(ctx, out, "after maintenance, with 3 newer ones", batches+3, lines, samples)
}

func newBench(ctx context.Context, cloud *testcloud.Cloud) (*bench, error) {
	b := &bench{cloud: cloud, began: time.Now().Add(-24 * time.Hour).Truncate(time.Second).UTC()}
	cfg := aws.Config{Region: cloud.Region, BaseEndpoint: aws.String(cloud.AWSEndpointURL), HTTPClient: b,
		Credentials: credentials.NewStaticCredentialsProvider(cloud.AccessKeyID, cloud.SecretAccessKey, "")}
	box, err := findBox(ctx, cloud, cfg)
	if err != nil {
		return nil, err
	}
	db := dynamodb.NewFromConfig(cfg)
	cfg.BaseEndpoint = aws.String(cloud.S3URL)
	work := objects.New(cfg, cloud.Prefix+"-work-000000000000-"+cloud.Region, objects.Options{PathStyle: true})
	catalog := lineindexdb.New(db, cloud.Prefix+"-index")
	b.batches = batchdb.New(db, cloud.Prefix+"-batches")
	b.indexer = &lineindex.Indexer{Catalog: catalog, Work: work, Files: work,
		NewName: uuid.NewString, Lease: time.Minute, Now: time.Now}
	b.searcher = &lineindex.Searcher{Catalog: catalog, Files: work, Now: time.Now}
	keys := lineindexdb.NewKeys(catalog, box, sealed.LineIndex, time.Now)
	if b.key, err = keys.Make(ctx, cloud.TenantID); err != nil {
		return nil, err
	}
	b.client, err = client.New(client.Config{APIURL: cloud.APIURL, TokenURL: cloud.TokenURL, ClientID: cloud.ClientID,
		ClientSecret: cloud.ClientSecret, Scope: cloud.Scope})
	return b, err
}

// findBox returns the box of the key of the local cloud that encrypts.
func findBox(ctx context.Context, cloud *testcloud.Cloud, cfg aws.Config) (*sealed.Box, error) {
	keys, err := os.ReadDir(filepath.Join(cloud.Data, "kms"))
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		box := sealed.New(kms.NewFromConfig(cfg), key.Name())
		if _, err := box.Seal(ctx, cloud.TenantID, sealed.LineIndex, nil); err == nil {
			return box, nil
		}
	}
	return nil, errors.New("the local cloud has no key that encrypts")
}

// Do counts the requests to storage.
func (b *bench) Do(r *http.Request) (*http.Response, error) {
	b.requests.Add(1)
	return http.DefaultClient.Do(r)
}

// addBatches adds batches as they end: each merges what there is to merge.
func (b *bench) addBatches(ctx context.Context, batches, lines int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i := range batches {
		g.Go(func() error {
			if err := b.addBatch(ctx, i, lines); err != nil {
				return err
			}
			if i%64 == 0 { // several at the same time would wait for each other's merges
				return b.indexer.Maintain(ctx, b.cloud.TenantID)
			}
			return nil
		})
	}
	return g.Wait()
}

// idOf returns the ID of a modification.
func idOf(batch, line int) string {
	return uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%d/%d", batch, line)).String()
}

// addBatch adds a batch that ended without being stored.
func (b *bench) addBatch(ctx context.Context, number, lines int) error {
	id, err := batch.NewID()
	if err != nil {
		return err
	}
	at := b.began.Add(time.Duration(number) * time.Second)
	err = b.batches.Create(ctx, batch.Batch{ID: id, Tenant: b.cloud.TenantID, Status: batch.ValidationFailed,
		CreatedAt: at, UpdatedAt: at, ReceivedAt: at})
	if err != nil {
		return err
	}
	var c lineindex.Collector
	c.Reset(&b.key, int64(lines)*1000)
	for i := range lines {
		c.Add(int64(i), &transaction.Result{ModificationID: []byte(idOf(number, i)),
			TransactionExternalID: []byte(uuid.NewString()), PaymentExternalID: []byte(uuid.NewString()),
			RequestUUID: []byte(uuid.NewString())})
	}
	key := "work/" + string(id)
	err = b.indexer.Work.WriteObject(ctx, key, func(w io.Writer) error {
		_, err := c.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	return b.indexer.Add(ctx, b.cloud.TenantID, lineindex.Batch{ID: id, ReceivedAt: at},
		[]lineindex.Chunk{{Key: key, FirstLine: 1}})
}

// measure prints the times of the first and the tenth call for IDs, and the requests of a search.
func (b *bench) measure(ctx context.Context, out io.Writer, state string, batches, lines, samples int) error {
	segments, _, err := b.searcher.Catalog.Segments(ctx, b.cloud.TenantID)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s: %d segments\n%-22s %10s %10s %10s %10s %9s\n", state, len(segments), "ID", "first p50",
		"first p99", "tenth p50", "tenth p99", "requests")
	var problems []error
	for _, kind := range []struct {
		name string
		id   func(i int) string
		want int
	}{
		{"of any batch", func(i int) string { return idOf(i*(batches-1)/samples, i%lines) }, 1},
		{"of the newest batch", func(i int) string { return idOf(batches-1, i%lines) }, 1},
		{"of no line", func(int) string { return uuid.NewString() }, 0},
	} {
		var first, tenth []time.Duration
		most := int64(0)
		for i := range samples {
			id := kind.id(i)
			for call := range 10 {
				began := time.Now()
				page, err := b.client.Find(ctx, client.FindQuery{ID: id}, "")
				took := time.Since(began)
				if err != nil || len(page.Items) != kind.want {
					return fmt.Errorf("find %s: %d items, %w", id, len(page.Items), err)
				}
				switch call {
				case 0:
					first = append(first, took)
				case 9:
					tenth = append(tenth, took)
				}
			}
			before := b.requests.Load()
			_, _, _, err := b.searcher.Search(ctx, lineindex.Query{Tenant: b.cloud.TenantID, Key: b.key,
				IDs: []string{id}, Kinds: []lineindex.Kind{lineindex.Modification}, Limit: 100})
			if err != nil {
				return err
			}
			most = max(most, b.requests.Load()-before)
		}
		fmt.Fprintf(out, "%-22s %7.0f ms %7.0f ms %7.0f ms %7.0f ms %9d\n", kind.name, ms(first, 50), ms(first, 99),
			ms(tenth, 50), ms(tenth, 99), most)
		for _, times := range [][]time.Duration{first, tenth} {
			if percentile(times, 50) > maxMedian || percentile(times, 99) > maxP99 {
				problems = append(problems, fmt.Errorf("%s, %s: too slow", state, kind.name))
			}
		}
	}
	return errors.Join(problems...)
}

func ms(times []time.Duration, p int) float64 { return percentile(times, p).Seconds() * 1000 }

// percentile returns the time that a share of the times in percent does not pass.
func percentile(times []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[(len(sorted)*p+99)/100-1]
}
