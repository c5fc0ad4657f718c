package findhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/openapi/wire"
	"sluice/shared/access"
	"sluice/shared/access/permission"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/find"
	"sluice/shared/kit/difftest"
)

const created, refused = http.StatusCreated, http.StatusBadRequest

func reference[T any](v T) *T { return &v }

// A line is found by each of its IDs, with all that is known of it, and by nobody else.
func TestLineIsFoundByEachID(t *testing.T) {
	a := newAPI(t)
	b := a.addBatch(t, time.Hour, nil)
	a.ingest(t, b, 7, "p", "t/1", "m", requestID)
	for kind, id := range map[string]string{"payment": "p", "transaction": "t/1", "modification": "m",
		"request": requestID} {
		want := wire.FoundItems{Items: []wire.FoundItem{{Kind: kind, ID: id, BatchID: reference(string(b.ID)),
			Line: reference(int64(7)), TransactionExternalID: reference("t/1"),
			ModificationExternalID: reference("m"), PaymentExternalID: reference("p"), Status: reference("ingested"),
			ReceivedAt: &b.ReceivedAt, Href: reference("/tm/realtime/api/transactions/t%2F1")}},
			Searched: wire.SearchedTimes{From: &since, To: now}}
		for _, query := range []string{"id=" + url.QueryEscape(id), "kind=" + kind + "&id=" + url.QueryEscape(id),
			"id=" + url.QueryEscape(strings.ToUpper(id))} {
			if strings.Contains(query, "M") || strings.Contains(query, "T") || strings.Contains(query, "P") {
				continue // these count in their case
			}
			difftest.Equal(t, query, want, a.page(t, query))
		}
		if got, _ := a.find(t, "kind=batch&id="+url.QueryEscape(id)); got != nil {
			t.Errorf("as a batch, %s is %q", id, got)
		}
	}
	if got := a.page(t, "kind=request&id="+strings.ToUpper(requestID)); len(got.Items) != 1 ||
		got.Items[0].ID != requestID {
		t.Errorf("by the request in upper case got %+v", got.Items)
	}
	if got, _ := a.find(t, "id=P"); got != nil {
		t.Errorf("by the payment in upper case got %q", got)
	}
	a.caller.Tenant = "t2"
	if got, _ := a.find(t, "id=p"); got != nil {
		t.Errorf("another tenant found %q", got)
	}
}

// The status of a line follows from its batch, from what is stored, and from its IDs.
func TestStatusesOfLines(t *testing.T) {
	judged := func(b *batch.Batch, status batch.Status, invalid int64) {
		b.Status = status
		b.Verdict = &batch.Verdict{Outcome: batch.Judged, Total: 2, Accepted: 2 - invalid, ReportKey: "r",
			Invalid: invalid}
	}
	for name, tt := range map[string]struct {
		change   func(*batch.Batch)
		isStored bool
		// isRejected is what the index says of the line.
		isRejected bool
		ids        []string
		want       string
	}{
		"stored":          {isStored: true, want: find.Ingested},
		"not stored":      {want: find.Rejected},
		"not identified":  {ids: []string{"p", "t", "", "r"}, want: find.Rejected},
		"without request": {ids: []string{"p", "t", "m", ""}, want: find.Rejected},
		"only validated": {change: func(b *batch.Batch) { b.ValidateOnly = true },
			want: find.NotIngested},
		"batch rejected": {change: func(b *batch.Batch) { judged(b, batch.ValidationFailed, 1) },
			want: find.NotIngested},
		"batch rejected, line not identified": {change: func(b *batch.Batch) { judged(b, batch.ValidationFailed, 1) },
			ids: []string{"p", "", "m", "r"}, want: find.Rejected},
		"line rejected with its batch": {change: func(b *batch.Batch) { judged(b, batch.ValidationFailed, 1) },
			isRejected: true, want: find.Rejected},
		"failed while it was ingested": {change: func(b *batch.Batch) { judged(b, batch.Failed, 0) }, isStored: true,
			want: find.NotIngested},
		"cancelled": {change: func(b *batch.Batch) { b.Status, b.Verdict = batch.Failed, nil }, want: find.NotIngested},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			b, ids := a.addBatch(t, time.Hour, tt.change), tt.ids
			a.index.Rejected = tt.isRejected
			if ids == nil {
				ids = []string{"p", "t", "m", "r"}
			}
			if tt.isStored {
				a.ingest(t, b, 1, ids...)
			} else {
				a.addLine(b, 1, ids...)
			}
			items := a.page(t, "id=p").Items
			href := "/tm/realtime/api/transactions/batch/validation-result/" + string(b.ID)
			if tt.want == find.Ingested {
				href = "/tm/realtime/api/transactions/t"
			}
			if len(items) != 1 || text(items[0].Status) != tt.want || text(items[0].Href) != href {
				t.Errorf("got %+v, want %s at %s", items, tt.want, href)
			}
		})
	}
}

// A single transaction is found by each of its IDs at once, stored or refused.
func TestSingleTransactionsAreFound(t *testing.T) {
	a := newAPI(t)
	a.sendSingle(t, time.Minute, created, "p", "..", "m", requestID)
	a.sendSingle(t, 2*time.Minute, refused, "p", "..", "m,1", requestID)
	a.sendSingle(t, 3*time.Minute, refused, "p", "..", "", requestID)
	for kind, id := range map[string]string{"payment": "p", "transaction": "..", "request": requestID} {
		items := a.page(t, "kind="+kind+"&id="+id).Items
		if len(items) != 3 {
			t.Fatalf("%s: got %d items, want 3", kind, len(items))
		}
		for i, want := range []wire.FoundItem{
			{Status: reference("ingested"), ModificationExternalID: reference("m"),
				Href: reference("/tm/realtime/api/transactions?transaction_external_id=..")},
			{Status: reference("rejected"), ModificationExternalID: reference("m,1"),
				Href: reference("/tm/observability/api/v1/transactions/events?modification_external_ids=m%2C1")},
			{Status: reference("rejected")},
		} {
			want.Kind, want.ID, want.PaymentExternalID, want.TransactionExternalID = kind, id, reference("p"),
				reference("..")
			want.ReceivedAt = reference(now.Add(-time.Duration(i+1) * time.Minute))
			difftest.Equal(t, kind, want, items[i])
		}
	}
	if got, _ := a.find(t, "id=m"); !slices.Equal(got, []string{"modification ingested m"}) {
		t.Errorf("by the modification got %q", got)
	}
}

// An item is given for each kind of ID that equals, the newest first, over pages of any size.
func TestPages(t *testing.T) {
	a := newAPI(t)
	same := a.now.Add(-time.Hour)
	var want []string
	add := func(items ...string) { want = append(want, items...) }
	for i := range 5 { // the newest first
		a.sendSingle(t, time.Duration(i)*time.Minute, created, "p", "x", fmt.Sprint("s", i), "r")
		add(fmt.Sprint("payment ingested s", i))
	}
	// A batch and single transactions with the same receipt time; lines with two equal IDs.
	b := a.addBatch(t, time.Hour, nil)
	for line := int64(1); line <= 4; line++ {
		a.ingest(t, b, line, "p", "p", fmt.Sprint("m", line), "r")
		add(fmt.Sprint("payment ingested line ", line), fmt.Sprint("transaction ingested line ", line))
	}
	for _, m := range []string{"u1", "u2", "u3"} {
		a.sendSingle(t, a.now.Sub(same), created, "o", "p", m, "r")
	}
	add("transaction ingested u1", "transaction ingested u2", "transaction ingested u3")
	a.sendSingle(t, 2*time.Hour, refused, "p", "p", "p", "p")
	add("payment rejected p", "transaction rejected p", "modification rejected p", "request rejected p")
	for _, limit := range []int{1, 2, 3, 5, 7, 100} {
		got, pages := a.find(t, fmt.Sprint("id=p&limit=", limit))
		if diff := cmp.Diff(want, got); diff != "" || pages != (len(want)+limit-1)/limit {
			t.Errorf("limit %d, %d pages (-want +got):\n%s", limit, pages, diff)
		}
	}
}

// Lines whose retention has ended are not found.
func TestExpiredLines(t *testing.T) {
	a := newAPI(t)
	b := a.addBatch(t, time.Hour, func(b *batch.Batch) { b.Settings = tenancy.Settings{Retention: 2 * time.Hour} })
	a.ingest(t, b, 1, "p", "t", "m", "r")
	for after, want := range map[time.Duration]int{time.Hour - 1: 1, time.Hour: 0} {
		a.now = now.Add(after)
		if got, _ := a.find(t, "id=p"); len(got) != want {
			t.Errorf("after %v found %q, want %d", after, got, want)
		}
	}
}

// What is searched begins with the index, and ends now unless more batches may owe their index than are searched.
func TestSearchedTimes(t *testing.T) {
	a := newAPI(t)
	want := wire.SearchedTimes{From: &since, To: now}
	difftest.Equal(t, "searched", want, a.page(t, "id=p").Searched)
	a.index.Until = now.Add(-time.Hour)
	want.To = a.index.Until
	difftest.Equal(t, "searched without many batches", want, a.page(t, "id=p").Searched)
	a.index.Since = time.Time{}
	want = wire.SearchedTimes{To: now}
	difftest.Equal(t, "searched without an index", want, a.page(t, "id=p").Searched)
	if a.index.Searches != 2 {
		t.Errorf("the index was searched %d times, want twice", a.index.Searches)
	}
	a.page(t, "kind=document&id=p")
	if a.index.Searches != 2 {
		t.Error("the index was searched for a document")
	}
}

// objects is a source of one object.
type objects struct {
	item   find.Item
	layers access.Layers
}

func (o objects) Find(_ context.Context, _ string, layers access.Layers, id string) ([]find.Item, error) {
	if id != o.item.ID || !layers.CanReach(o.layers) {
		return nil, nil
	}
	return []find.Item{o.item}, nil
}

// Objects are found with the permission to read them alone, and lines with either of theirs.
func TestObjectsNeedTheirPermission(t *testing.T) {
	a := newAPI(t)
	b := a.addBatch(t, time.Hour, nil)
	id := string(b.ID)
	a.sendSingle(t, time.Minute, created, id, "t", "m", "r")
	for i, kind := range []find.Kind{find.Entity, find.Document, find.Event, find.Screening} {
		o := objects{item: find.Item{Kind: kind, ID: id, Status: "s", Href: "/h",
			ReceivedAt: now.Add(-time.Duration(2+i) * time.Hour)}}
		if kind == find.Document {
			o.layers.Geographic = []string{"EU"}
		}
		if kind == find.Screening {
			o.item.ReceivedAt = time.Time{} // is not known
		}
		a.objects[kind] = o
	}
	const line = "payment ingested m"
	all := []string{line, "batch PROCESSED null", "entity s null", "document s null", "event s null",
		"screening s null"}
	for permissions, want := range map[string][]string{
		permission.BatchRead:       {line, all[1]},
		permission.TransactionRead: {line},
		permission.BatchRead + " " + permission.EntityGroupManagementAccessAndSearch: {line, all[1], all[2]},
		permission.TransactionRead + " " + permission.EntityDataAccessAndSearch:      {line, all[2]},
		strings.Join(permission.All(), " "):                                          all,
	} {
		a.caller.Permissions = strings.Fields(permissions)
		for _, limit := range []int{1, 100} {
			got, _ := a.find(t, fmt.Sprint("id=", id, "&limit=", limit))
			difftest.Equal(t, fmt.Sprint(permissions, limit), want, got)
		}
	}
	a.caller.Permissions = permission.All()
	if got, _ := a.find(t, "kind=event&id="+id); !slices.Equal(got, all[4:5]) {
		t.Errorf("as an event got %q", got)
	}
	a.caller.Layers = access.Layers{}.OrDefault()
	if got, _ := a.find(t, "kind=document&id="+id); got != nil {
		t.Errorf("out of reach got %q", got)
	}
	a.caller.Tenant = "t2"
	if got, _ := a.find(t, "kind=batch&id="+id); got != nil {
		t.Errorf("another tenant found %q", got)
	}
	a.caller.Permissions = []string{permission.TransactionWrite, permission.WebhookRead}
	if r := a.send(t, "id="+id); r.StatusCode != 403 {
		t.Errorf("without permission got %d %s, want 403", r.StatusCode, r.Body)
	}
}

func TestBadQueries(t *testing.T) {
	a := newAPI(t)
	for range 2 {
		a.sendSingle(t, time.Minute, refused, "p", "t", "m", "r")
	}
	a.sendSingle(t, time.Hour, refused, "p", "t", "m", "r")
	next := *a.page(t, "id=p&limit=1").Next
	for query, code := range map[string]string{
		"":                               "missing",
		"id=":                            "missing",
		"id=" + strings.Repeat("i", 256): "string_too_long",
		"id=%ff":                         "string_type",
		"id=p&id=q":                      "repeated",
		"id=p&kind=":                     "enum",
		"id=p&kind=line":                 "enum",
		"id=p&kind=batch&kind=entity":    "repeated",
		"id=p&limit=0":                   "number_range",
		"id=p&limit=101":                 "number_range",
		"id=p&next=":                     "page_token",
		"id=p&next=x":                    "page_token",
		"id=q&next=" + next:              "page_token",
		"id=p&kind=payment&next=" + next: "page_token",
		"id=p&tenant=t2":                 "extra_forbidden",
	} {
		if r := a.send(t, query); r.StatusCode != 422 || !strings.Contains(r.Body, `"`+code+`"`) {
			t.Errorf("%.40q: got %d %s, want 422 with %s", query, r.StatusCode, r.Body, code)
		}
	}
	if got := a.page(t, "id="+strings.Repeat("é", 127)).Items; len(got) != 0 {
		t.Errorf("by a long ID got %+v", got)
	}
	a.caller.Tenant = "t2"
	if r := a.send(t, "id=p&next="+next); r.StatusCode != 422 {
		t.Errorf("with the page of another tenant got %d %s, want 422", r.StatusCode, r.Body)
	}
}
