package screeningdb_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

// As many of the largest matches can be resolved together as a transaction of DynamoDB holds: all that may be named at
// once, unless the IDs of their aliases are very long. Too many are refused before anything is written.
func TestLargestResolutions(t *testing.T) {
	t.Parallel()
	const transaction = 4_000_000
	longest := strings.Repeat("\U0001F980", 255)
	for _, test := range []struct {
		name      string
		aliases   int
		aliasID   string
		fitsAtAll bool
	}{
		{"no aliases", 0, "", true},
		{"the longest IDs in ASCII", screening.MaxAliases, strings.Repeat("x", 255), true},
		{"some of the longest IDs", 40, longest, false},
		{"the longest IDs", screening.MaxAliases, longest, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := dynamotest.Start(t)
			s := screeningdb.New(db, "test-screenings")
			b, matches := largestMatches(t, s, test.aliases, test.aliasID)
			resolution := screening.Resolution{Status: screening.NoMatch, Reason: "r",
				Comments: strings.Repeat("x", screening.MaxResolutionBytes-300)}
			_, unresolvedBytes := storedSizes(t, db, b)
			most := 0
			// Matches that are larger than a transaction even before they are resolved need not be tried.
			for n := len(matches); most == 0; n = min(n-1, transaction/unresolvedBytes) {
				resolutions := map[string]screening.Resolution{}
				for _, m := range matches[:n] {
					resolutions[m.ID] = resolution
				}
				next, resolved, err := b.Resolve(matches[:n], resolutions)
				must(t, err)
				err = s.Resolve(t.Context(), next, resolved)
				var refused *fault.Error
				switch {
				case err == nil:
					most = n
				case !errors.As(err, &refused) || refused.Code != "matches_too_large" || refused.Kind != fault.TooLarge:
					t.Fatalf("%d matches: got %v, want matches_too_large", n, err)
				}
			}
			size, item := storedSizes(t, db, b)
			t.Logf("%d matches of %d bytes are resolved at once", most, item)
			if fits := most == screening.MaxResolvedAtOnce; fits != test.fitsAtAll {
				t.Errorf("%d matches of %d bytes can be resolved at once, want all: %t", most, item, test.fitsAtAll)
			}
			if of := size + most*item; of > transaction || !test.fitsAtAll && of+2*item < transaction {
				t.Errorf("%d matches of %d bytes can be resolved at once: they have %d bytes of %d", most, item, of,
					transaction)
			}
			difftest.Equal(t, "matches are unresolved", len(matches)-most,
				errtest.Must(s.Get(t.Context(), tenant, b.ID))(t).Unresolved)
		})
	}
}

// largestMatches stores an open batch with as many of the largest matches as are resolved at once.
func largestMatches(t *testing.T, s *screeningdb.Store, aliases int, aliasID string) (screening.Batch,
	[]screening.Match) {
	t.Helper()
	b, entities := newBatch("", "", "e")
	b, err := s.Create(t.Context(), b, entities)
	must(t, err)
	var matches []screening.Match
	for i := range screening.MaxResolvedAtOnce {
		m := newMatch(b, "e", "a", fmt.Sprint(i))
		for j := range aliases {
			m.AliasIDs = append(m.AliasIDs, fmt.Sprint(j)+aliasID[len(aliasID)/255*len(fmt.Sprint(j)):])
		}
		m.Data.Name = strings.Repeat("x", screening.MaxMatchBytes-2000)
		matches = append(matches, m)
	}
	must(t, s.AddMatches(t.Context(), tenant, matches))
	b, _, err = b.FinishProvider(screening.Answer{ID: "a", ProviderID: "p", Matches: len(matches)})
	must(t, err, s.Save(t.Context(), b))
	return b, matches
}

// storedSizes returns the size of the item of a batch, and of the largest of its matches.
func storedSizes(t *testing.T, db *dynamodb.Client, b screening.Batch) (batch, match int) {
	t.Helper()
	pages := dynamodb.NewQueryPaginator(db, &dynamodb.QueryInput{TableName: aws.String("test-screenings"),
		KeyConditionExpression:    aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{":owner": dynamo.String(tenant + "#batch#" + b.ID)}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		must(t, err)
		for _, item := range page.Items {
			if part := dynamo.StringAttribute(item, "part"); part == "batch" {
				batch = dynamo.ItemSize(item)
			} else if strings.HasPrefix(part, "match#") {
				match = max(match, dynamo.ItemSize(item))
			}
		}
	}
	return batch, match
}
