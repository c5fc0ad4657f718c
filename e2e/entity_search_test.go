package e2e

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// drafts are read in seconds by default. A million of them take up to an hour:
// go test ./e2e -run LongJourney -v -drafts 1000000 -timeout 1h
var drafts = flag.Int("drafts", 6000, "how many drafts TestLongJourney reads, 2,000 or more")

type lightItem struct{ EntityId, EntityDraftId string }

type lightPage struct {
	Items           []lightItem
	PaginationToken *string
}

// insertDrafts adds count drafts to a journey, older than one that it creates by HTTP, and returns all of them in
// order. It copies the row of that one in the table: creating all by HTTP would take longer than the rest of the suite.
func insertDrafts(t *testing.T, api *session, journey string, count int) []lightItem {
	t.Helper()
	e := api.newEntity("")
	items := make([]lightItem, 0, count+1)
	last := lightItem{e, api.newDraft(e, journey)}
	db := api.environment.tables(t)
	table := api.environment.Prefix + "-records"
	row := journeyRow(t, db, table, api.tenantID, journey)
	createdAt, _, _ := strings.Cut(row["part"].(*types.AttributeValueMemberS).Value, "#")
	created := ok(strconv.ParseInt(createdAt, 10, 64))(t)
	requests := make([]types.WriteRequest, 0, count)
	for i := range count {
		item := lightItem{uuid.NewString(), uuid.NewString()}
		items = append(items, item)
		row := maps.Clone(row)
		at := created - int64(count-i)*int64(time.Millisecond)
		row["part"] = &types.AttributeValueMemberS{Value: fmt.Sprintf("%020d#%s", at, item.EntityDraftId)}
		row["entity"] = &types.AttributeValueMemberS{Value: item.EntityId}
		row["draft"] = &types.AttributeValueMemberS{Value: item.EntityDraftId}
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
	}
	var g errgroup.Group
	g.SetLimit(4)
	for some := range slices.Chunk(requests, 25) {
		g.Go(func() error {
			_, err := db.BatchWriteItem(t.Context(),
				&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: some}})
			return err
		})
	}
	must(t, g.Wait())
	return append(items, last)
}

// journeyRow reads the only row of a journey.
func journeyRow(t *testing.T, db *dynamodb.Client, table, tenantID, journey string) map[string]types.AttributeValue {
	t.Helper()
	owner := &types.AttributeValueMemberS{Value: tenantID + "#journey#" + journey}
	out, err := db.Query(t.Context(), &dynamodb.QueryInput{
		TableName:                 &table,
		KeyConditionExpression:    aws.String("#o = :o"),
		ExpressionAttributeNames:  map[string]string{"#o": "owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":o": owner},
	})
	require(t, err == nil && len(out.Items) == 1, "reading the journey's rows: %v, %v, want one", err, out)
	return out.Items[0]
}

// readPage reads one page of a journey; the token is a JSON value.
func (s *session) readPage(journey string, size, order int, token string) lightPage {
	s.t.Helper()
	page := callFor[lightPage](s, "POST", lightSearch,
		fmt.Sprintf(`{"data":{"journeyId":%q,"pageOptions":{"pageSize":%d,"sortOrder":%d,"paginationToken":%s}}}`,
			journey, size, order, token))
	return page
}

// readAllPages reads a journey page by page and returns what it read, and the token of every page.
func (s *session) readAllPages(journey string, size, order int) ([]lightItem, []string) {
	s.t.Helper()
	var items []lightItem
	tokens := []string{"null"}
	for {
		page := s.readPage(journey, size, order, tokens[len(tokens)-1])
		if items = append(items, page.Items...); page.PaginationToken == nil {
			return items, tokens
		}
		tokens = append(tokens, fmt.Sprintf("%q", *page.PaginationToken))
	}
}

// Every page of a long journey takes as long as the first, and nothing is lost, doubled or out of order, although
// drafts are created meanwhile.
func TestLongJourney(t *testing.T) {
	api := begin(t, manyRequests)
	journey := uuid.NewString()
	want := insertDrafts(t, api, journey, *drafts-1)

	first := callFor[lightPage](api, "POST", lightSearch, fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey))
	assert(t, slices.Equal(first.Items, want[:100]) && first.PaginationToken != nil,
		"a page of the size by default: %d drafts, want the first 100 and a token", len(first.Items))
	stop, stopped := make(chan struct{}), make(chan error, 1)
	end := sync.OnceFunc(func() { close(stop) })
	defer end() // also if a page cannot be read
	go func() { stopped <- api.createDraftsUntil(stop, journey, want[len(want)-1].EntityId) }()
	forward, forwardTokens := api.readAllPages(journey, 500, 0)
	backward, backwardTokens := api.readAllPages(journey, 500, 1)
	end()
	must(t, <-stopped)
	slices.Reverse(backward)
	for direction, got := range map[string][]lightItem{"forward": forward, "backward": backward} {
		assert(t, len(got) >= len(want) && slices.Equal(got[:len(want)], want),
			"%s: %d drafts, want %d in order and those created meanwhile", direction, len(got), len(want))
		seen := make(map[lightItem]bool, len(got))
		for _, item := range got {
			require(t, !seen[item], "%s: %+v comes twice", direction, item)
			seen[item] = true
		}
		t.Logf("%s: %d of the drafts that were created meanwhile", direction, len(got)-len(want))
	}
	api.checkPagesTakeEqualTime(journey, 0, forwardTokens)
	api.checkPagesTakeEqualTime(journey, 1, backwardTokens)
	if environment.supports(processes, t.Name()+", memory") {
		checkPeakMemory(t, "entity")
	}
}

// createDraftsUntil begins drafts of an entity until stop is closed.
func (s *session) createDraftsUntil(stop <-chan struct{}, journey, entity string) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		resp, err := http.DefaultClient.Do(s.newRequest("POST", entityCommand+"/"+entity+"/draft",
			fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey)))
		if err != nil {
			return err
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusAccepted {
			return fmt.Errorf("creating a draft meanwhile: %s, want 202", resp.Status)
		}
	}
}

// checkPagesTakeEqualTime fails if pages in the middle and at the end take longer than at the beginning. The pages are
// read in turn, and again as long as their fastest readings differ: whatever else the machine does can slow a reading,
// and nothing makes one faster than its page is.
func (s *session) checkPagesTakeEqualTime(journey string, order int, tokens []string) {
	s.t.Helper()
	const rounds, patience = 5, 30 * time.Second
	// The last page may be a short one.
	places := []int{1, len(tokens) / 2, len(tokens) - 2}
	fastest := []time.Duration{time.Hour, time.Hour, time.Hour}
	isEqual := func() bool {
		return max(fastest[1], fastest[2]) <= 2*fastest[0]+5*time.Millisecond
	}
	begun := time.Now()
	for round := 0; round < rounds || !isEqual() && time.Since(begun) < patience; round++ {
		for i, place := range places {
			start := time.Now()
			if page := s.readPage(journey, 500, order, tokens[place]); len(page.Items) != 500 {
				s.t.Fatalf("page %d of %d has %d drafts, want 500", place+1, len(tokens), len(page.Items))
			}
			fastest[i] = min(fastest[i], time.Since(start))
		}
	}
	first, middle, last := fastest[0], fastest[1], fastest[2]
	s.t.Logf("order %d, %d pages: the second takes %v, the middle one %v, the last but one %v", order, len(tokens),
		first, middle, last)
	assert(s.t, isEqual(), "order %d: the pages take %v, %v and %v, want the same time", order, first, middle, last)
}
