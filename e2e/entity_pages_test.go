package e2e

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// The suite keeps to seconds: go test ./e2e -run ALongJourney -v -drafts 1000000 -timeout 1h takes longer.
var drafts = flag.Int("drafts", 15_000, "how many drafts the light search is walked over, 2,000 or more")

// newEntity creates an entity with extra fields of its body, such as `,"alternateId":"x"`.
func (d *door) newEntity(extra string) string {
	d.t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	d.take("POST", entityCommand, `{"data":{"type":"Company","targetEntity":"Client"`+extra+`}}`, &made)
	return made.ID
}

// newDraft begins a draft of an entity.
func (d *door) newDraft(entity, journey string) string {
	d.t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	d.take("POST", entityCommand+"/"+entity+"/draft", fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey), &made)
	return made.ID
}

type lightItem struct{ EntityId, EntityDraftId string }

type lightPage struct {
	Items           []lightItem
	PaginationToken *string
}

// fill puts count more drafts into a journey, older than the one that the front door put there, and returns all of them in
// order. It copies that one's row in the table: creating them one by one would take the whole time of the suite.
func fill(t *testing.T, d *door, journey string, count int) []lightItem {
	t.Helper()
	e := d.newEntity("")
	items := make([]lightItem, 0, count+1)
	last := lightItem{e, d.newDraft(e, journey)}
	db, err := d.home.database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := d.home.Prefix + "-records"
	out, err := db.Query(t.Context(), &dynamodb.QueryInput{TableName: &table, KeyConditionExpression: aws.String("#o = :o"),
		ExpressionAttributeNames:  map[string]string{"#o": "owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":o": &types.AttributeValueMemberS{Value: d.home.TenantID + "#journey#" + journey}}})
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("%v: %v", err, out)
	}
	row := out.Items[0]
	written, _, _ := strings.Cut(row["part"].(*types.AttributeValueMemberS).Value, "#")
	created, err := strconv.ParseInt(written, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var g errgroup.Group
	g.SetLimit(4)
	var some []types.WriteRequest
	for i := range count {
		items = append(items, lightItem{uuid.NewString(), uuid.NewString()})
		row := maps.Clone(row)
		at := created - int64(count-i)*int64(time.Millisecond)
		row["part"] = &types.AttributeValueMemberS{Value: fmt.Sprintf("%020d#%s", at, items[i].EntityDraftId)}
		row["entity"], row["draft"] = &types.AttributeValueMemberS{Value: items[i].EntityId}, &types.AttributeValueMemberS{Value: items[i].EntityDraftId}
		some = append(some, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
		if len(some) == 25 || i == count-1 {
			puts := map[string][]types.WriteRequest{table: some}
			g.Go(func() error {
				_, err := db.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: puts})
				return err
			})
			some = nil
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return append(items, last)
}

// page reads one page of a journey; the token is JSON.
func (d *door) page(journey string, size, order int, token string) lightPage {
	d.t.Helper()
	var page lightPage
	d.take("POST", lightSearch, fmt.Sprintf(`{"data":{"journeyId":%q,"pageOptions":{"pageSize":%d,"sortOrder":%d,"paginationToken":%s}}}`,
		journey, size, order, token), &page)
	return page
}

// walk reads a journey page by page and returns what it read, and the token of every page.
func (d *door) walk(journey string, size, order int) ([]lightItem, []string) {
	d.t.Helper()
	var items []lightItem
	tokens := []string{"null"}
	for {
		page := d.page(journey, size, order, tokens[len(tokens)-1])
		if items = append(items, page.Items...); page.PaginationToken == nil {
			return items, tokens
		}
		tokens = append(tokens, fmt.Sprintf("%q", *page.PaginationToken))
	}
}

// A long journey is walked with every page as cheap as the first, and nothing is lost, doubled or out of order, although drafts
// are created meanwhile.
func TestALongJourney(t *testing.T) {
	d := enter(t, home)
	journey := uuid.NewString()
	start := time.Now()
	want := fill(t, d, journey, *drafts-1)
	t.Logf("%d drafts put into the journey in %v", len(want), time.Since(start).Round(time.Millisecond))

	stop, stopped := make(chan struct{}), make(chan error)
	go func() { stopped <- d.keepDrafting(journey, want[len(want)-1].EntityId, stop) }()
	forth, forthTokens := d.walk(journey, 500, 0)
	back, backTokens := d.walk(journey, 500, 1)
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if len(forth) < len(want) || !slices.Equal(forth[:len(want)], want) {
		t.Errorf("%d drafts, and not the %d in order", len(forth), len(want))
	}
	slices.Reverse(back)
	if len(back) < len(want) || !slices.Equal(back[:len(want)], want) {
		t.Errorf("backwards: %d drafts, and not the %d in order", len(back), len(want))
	}
	for _, items := range [][]lightItem{forth, back} {
		seen := make(map[lightItem]bool, len(items))
		for _, i := range items {
			if seen[i] {
				t.Fatalf("twice: %+v", i)
			}
			seen[i] = true
		}
	}
	t.Logf("of the drafts created meanwhile, forth saw %d, back %d", len(forth)-len(want), len(back)-len(want))
	d.even(journey, 0, forthTokens)
	d.even(journey, 1, backTokens)
	if d.home.can(processes, t.Name()+", memory") {
		checkResident(t, "entity")
	}
}

// keepDrafting begins drafts of an entity until it is told to stop.
func (d *door) keepDrafting(journey, entity string, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		req, err := http.NewRequest("POST", d.home.APIURL+entityCommand+"/"+entity+"/draft", strings.NewReader(fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey)))
		if err != nil {
			return err
		}
		req.Header = http.Header{"Authorization": {"Bearer " + d.token}, "X-Tenant-Id": {d.home.TenantID}, "Content-Type": {"application/json"}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusAccepted {
			return fmt.Errorf("a draft meanwhile: %s", resp.Status)
		}
	}
}

// even tells how long pages at the beginning, in the middle and at the end take, and fails if they grow. They are read in turn,
// so that whatever else the machine does slows all of them; the factor is one that chance does not reach in the median.
func (d *door) even(journey string, order int, tokens []string) {
	d.t.Helper()
	const rounds = 15
	places := []int{1, len(tokens) / 2, len(tokens) - 2} // the last page may be a short one
	took := make([][]time.Duration, len(places))
	for range rounds {
		for i, place := range places {
			start := time.Now()
			if page := d.page(journey, 500, order, tokens[place]); len(page.Items) != 500 {
				d.t.Errorf("%d drafts on page %d of %d", len(page.Items), place+1, len(tokens))
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	median := func(i int) time.Duration { return slices.Sorted(slices.Values(took[i]))[rounds/2] }
	first, middle, last := median(0), median(1), median(2)
	d.t.Logf("order %d, %d pages: the second takes %v, the middle one %v, the last but one %v", order, len(tokens), first, middle, last)
	if last > 2*first+5*time.Millisecond || middle > 2*first+5*time.Millisecond {
		d.t.Errorf("order %d: pages get slower: %v, %v, %v", order, first, middle, last)
	}
}
