package transactionhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactionhttp"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// memory is a store of one transaction, and of the statuses of its batches, in memory. It counts reads.
type memory struct {
	versions  []transaction.Version
	processed map[batch.ID]bool
	read      int
	// beforeEach runs before each reading, for tests in which the store changes meanwhile.
	beforeEach func()
}

func compareKeys(a, b transaction.Version) int {
	if c := transaction.CompareModifications(a.Modification, b.Modification); c != 0 {
		return c
	}
	return a.Compare(b)
}

func (m *memory) add(v transaction.Version) {
	i, _ := slices.BinarySearchFunc(m.versions, v, compareKeys)
	m.versions = slices.Insert(m.versions, i, v)
}

func (m *memory) List(_ context.Context, r transaction.Range) ([]transaction.Version, bool, error) {
	if m.beforeEach != nil {
		m.beforeEach()
	}
	var found []transaction.Version
	if r.Modification == "" {
		i, _ := slices.BinarySearchFunc(m.versions, r.After, func(v transaction.Version, after string) int {
			return max(-1, transaction.CompareModifications(v.Modification, after)*2-1)
		})
		found = m.versions[i:]
	} else {
		before := transaction.Version{Modification: r.Modification, ReceivedAt: now.AddDate(100, 0, 0)}
		if r.Before != nil {
			before.ReceivedAt, before.Batch = r.Before.ReceivedAt, r.Before.Batch
		}
		i, _ := slices.BinarySearchFunc(m.versions, before, compareKeys)
		for _, v := range slices.Backward(m.versions[:i]) {
			if v.Modification != r.Modification || len(found) == r.Limit {
				break
			}
			found = append(found, v)
		}
	}
	n := min(len(found), r.Limit)
	m.read += n
	return slices.Clone(found[:n]), n == r.Limit, nil // as DynamoDB, which does not look whether there is more
}

func (m *memory) Statuses(_ context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error) {
	if m.beforeEach != nil {
		m.beforeEach()
	}
	out := map[batch.ID]batch.Status{}
	for _, id := range ids {
		out[id] = batch.InProgress
		if m.processed[id] {
			out[id] = batch.Processed
		}
	}
	return out, nil
}

// pages reads the transaction to its end and returns its pages.
func (m *memory) pages(t *testing.T) [][]wire.StoredModification {
	t.Helper()
	var pages [][]wire.StoredModification
	s := &transactionhttp.Transactions{Store: m, Batches: m, Now: func() time.Time { return now }}
	for after := ""; ; {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/?after="+url.QueryEscape(after), nil)
		r.SetPathValue("transaction_external_id", "x")
		reply, err := s.Read(t.Context(), httpapi.Caller{Tenant: "t"}, r)
		errtest.Fatal(t, err)
		page := reply.Body.(transactionhttp.TransactionReply)
		pages = append(pages, page.Modifications)
		if after = page.NextAfter; after == "" {
			return pages
		}
		if len(pages) > 10_000 {
			t.Fatal("the pages do not end")
		}
	}
}

func batchNumber(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", n) }

// For any stored versions, all pages together show each modification once, in order, in its newest visible version; and
// no page reads more than its share.
func TestPagesShowTheNewestVersions(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			m := &memory{processed: map[batch.ID]bool{}}
			batches := 1 + random.IntN(2000)
			visibleShare := []float64{0, 0.001, 0.5, 1}[random.IntN(4)]
			for i := range batches {
				m.processed[batch.ID(batchNumber(i))] = random.Float64() < visibleShare
			}
			want := map[string]transaction.Version{}
			stored := map[string]bool{}
			for range random.IntN(8000) {
				modification := strings.Repeat("m", 1+random.IntN(2)) + fmt.Sprint(random.IntN(1+random.IntN(300)))
				if random.IntN(2) == 0 {
					modification = "~often" // and looks like a token
				}
				v := transaction.Version{
					Modification: modification, Batch: batchNumber(random.IntN(batches)), Line: 1, Text: []byte(`{}`),
					ReceivedAt: now.Add(time.Duration(random.IntN(1000))),
				}
				if random.IntN(500) == 0 && visibleShare > 0 {
					v.Batch, v.Line = "", 0
				}
				if key := fmt.Sprint(v.Modification, v.ReceivedAt, v.Batch); stored[key] {
					continue
				} else {
					stored[key] = true
				}
				m.versions = append(m.versions, v)
				if v.Batch != "" && !m.processed[batch.ID(v.Batch)] {
					continue
				}
				if newest, exists := want[modification]; !exists || v.Compare(newest) > 0 {
					want[modification] = v
				}
			}
			slices.SortFunc(m.versions, compareKeys)
			if len(want) == 0 {
				return // nothing but empty pages, and the last of them is not found or empty
			}
			var got []transaction.Version
			pages := m.pages(t)
			for _, page := range pages {
				for _, shown := range page {
					v := transaction.Version{Modification: shown.ModificationExternalID, ReceivedAt: shown.ReceivedAt,
						Text: shown.Transaction}
					if shown.BatchID != nil {
						v.Batch, v.Line = *shown.BatchID, *shown.Line
					}
					got = append(got, v)
				}
			}
			var inOrder []transaction.Version
			for _, v := range want {
				inOrder = append(inOrder, v)
			}
			slices.SortFunc(inOrder, compareKeys)
			difftest.Equal(t, fmt.Sprintf("%d versions in %d pages", len(m.versions), len(pages)), inOrder, got)
			if limit := 3000 * (len(pages) + 1); m.read > limit {
				t.Errorf("%d pages read %d versions, want at most %d", len(pages), m.read, limit)
			}
		})
	}
}

// Each batch has a line for every modification, and becomes PROCESSED once it has stored them all, while pages are
// read. So all modifications of one page must come from one batch, and each from a batch that is PROCESSED.
func TestNoPageShowsAPartOfABatch(t *testing.T) {
	for _, c := range []struct{ versionsEach, linesPerRead, rounds int }{{1, 10, 3}, {30, 10, 2}, {120, 10, 2}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(c.versionsEach), 1))
			const modifications = 40
			m := &memory{processed: map[batch.ID]bool{}}
			var order []int
			current := -1
			step := func() {
				if len(order) == 0 {
					if current >= 0 {
						m.processed[batch.ID(batchNumber(current))] = true
					}
					current++
					order = random.Perm(modifications)
				}
				m.add(transaction.Version{
					Modification: fmt.Sprintf("m%02d", order[0]), Batch: batchNumber(current), Line: 1,
					Text:       []byte(`{}`),
					ReceivedAt: now.Add(time.Duration(current)),
				})
				order = order[1:]
			}
			for current < c.versionsEach {
				step()
			}
			m.beforeEach = func() {
				for range random.IntN(c.linesPerRead) {
					step()
				}
			}
			for range c.rounds {
				for i, page := range m.pages(t) {
					for _, shown := range page {
						if *shown.BatchID != *page[0].BatchID || !m.processed[batch.ID(*shown.BatchID)] {
							t.Fatalf("page %d shows %s from batch %s and %s from batch %s", i,
								page[0].ModificationExternalID, *page[0].BatchID, shown.ModificationExternalID,
								*shown.BatchID)
						}
					}
				}
			}
		})
	}
}

// A batch becomes PROCESSED between two pages, the second of which begins inside a modification: it shows nothing of
// the batch, because it does not look at the newer versions of that modification again.
func TestPageInsideAModification(t *testing.T) {
	m := &memory{processed: map[batch.ID]bool{batch.ID(batchNumber(0)): true}}
	add := func(modification string, n int) {
		m.add(transaction.Version{Modification: modification, Batch: batchNumber(n), Line: 1, Text: []byte(`{}`),
			ReceivedAt: now.Add(time.Duration(n))})
	}
	add("m2", 0)
	for i := range 1500 {
		add("m1", i)
	}
	reads := 0
	m.beforeEach = func() {
		if reads++; reads == 30 { // during the second page
			add("m1", 2000)
			add("m2", 2000)
			m.processed[batch.ID(batchNumber(2000))] = true
		}
	}
	pages := m.pages(t)
	if len(pages) < 3 || len(pages[0]) != 0 {
		t.Fatalf("got %v, want an empty page first, and 3 pages", pages)
	}
	for i, page := range pages {
		for _, shown := range page {
			if *shown.BatchID != *page[0].BatchID {
				t.Errorf("page %d shows batches %s and %s", i, *page[0].BatchID, *shown.BatchID)
			}
		}
	}
}

// The work for a page is bounded, and with one modification of many versions the first page has its newest one.
func TestManyVersions(t *testing.T) {
	m := &memory{processed: map[batch.ID]bool{batch.ID(batchNumber(1)): true}}
	for i := range 100_000 {
		m.versions = append(m.versions, transaction.Version{
			Modification: "m", Batch: batchNumber(1), ReceivedAt: now.Add(time.Duration(i)), Text: []byte(`{}`),
		})
	}
	pages := m.pages(t)
	if len(pages) != 1 || len(pages[0]) != 1 || !pages[0][0].ReceivedAt.Equal(now.Add(99_999)) {
		t.Errorf("got %d pages, want one of the newest version", len(pages))
	}
	if m.read > 200 {
		t.Errorf("%d versions were read, want at most 200", m.read)
	}
	// Only the oldest one is visible: some pages are empty, and the last one shows it.
	m.versions[0].Batch, m.read = batchNumber(2), 0
	m.processed = map[batch.ID]bool{batch.ID(batchNumber(2)): true}
	pages = m.pages(t)
	if last := pages[len(pages)-1]; len(last) != 1 || *last[0].BatchID != batchNumber(2) {
		t.Errorf("the last of %d pages shows %+v, want the one visible version", len(pages), last)
	}
	if limit := 2500 * len(pages); m.read > limit {
		t.Errorf("%d pages read %d versions, want at most %d", len(pages), m.read, limit)
	}
	if text, err := json.Marshal(pages[0]); err != nil || string(text) != "[]" {
		t.Errorf("an empty page is %s, %v; want []", text, err)
	}
}
