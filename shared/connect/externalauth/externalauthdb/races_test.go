package externalauthdb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/externalauth/externalauthdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// However several writers change the same URLs at once, each URL belongs to one configuration, each configuration to
// one URL, and their number is right.
func TestRaces(t *testing.T) {
	t.Parallel()
	db := dynamotest.Start(t)
	s := externalauthdb.New(db, "test-externalauth", openBox{})
	const writers, steps, urls = 6, 20, 4
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for step := range steps {
				u := fmt.Sprintf("https://hooks.example.com/%d%s", random.IntN(urls),
					strings.Repeat("/", random.IntN(2)))
				errtest.Is(t, fmt.Sprintf("writer %d, step %d", w, step),
					writeAtRandom(t, s, random, fmt.Sprintf("%d-%d", w, step), u), nil)
			}
		})
	}
	wait.Wait()
	// All others may have been deleted at the end.
	last := externalauth.Configuration{ID: "last", Tenant: storedTenant, URL: "https://hooks.example.com/last"}
	errtest.Fatal(t, s.Create(t.Context(), last))
	out := errtest.Must(db.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("test-externalauth"),
		ConsistentRead: aws.Bool(true)}))(t)
	canonical, claims, count := map[string]string{}, map[string]bool{}, int64(0)
	for _, item := range out.Items {
		part := dynamo.StringAttribute(item, "part")
		switch {
		case part == "count":
			count = dynamo.NumberAttribute(item, "configurations")
		case strings.HasPrefix(part, "url#"):
			id := dynamo.StringAttribute(item, "configuration")
			if claims[id] {
				t.Errorf("configuration %s has two URLs", id)
			}
			claims[id] = true
		default:
			id := strings.TrimPrefix(part, "configuration#")
			u, err := externalauth.CanonicalURL(dynamo.StringAttribute(item, "url"))
			if err != nil || canonical[u] != "" {
				t.Errorf("configurations %s and %s have the URL %s, %v", id, canonical[u], u, err)
			}
			canonical[u] = id
		}
	}
	if len(canonical) == 0 || len(claims) != len(canonical) || count != int64(len(canonical)) {
		t.Errorf("%d configurations, %d claimed URLs, %d counted; want the same number", len(canonical), len(claims),
			count)
	}
	for _, id := range canonical {
		if !claims[id] {
			t.Errorf("configuration %s does not own its URL", id)
		}
	}
}

// writeAtRandom creates a configuration, moves one or deletes one. It returns errors other than those that a writer
// gets who comes too late.
func writeAtRandom(t *testing.T, s *externalauthdb.Store, random *rand.Rand, id, u string) error {
	ctx := t.Context()
	list, err := s.List(ctx, storedTenant)
	if err != nil {
		return err
	}
	switch action := random.IntN(3); {
	case action == 0 || len(list) == 0:
		err = s.Create(ctx, externalauth.Configuration{ID: id, Tenant: storedTenant, URL: u})
	case action == 1:
		previous := list[random.IntN(len(list))]
		next := previous
		next.URL = u
		err = s.Save(ctx, previous, next)
	default:
		err = s.Delete(ctx, list[random.IntN(len(list))])
	}
	if errors.Is(err, externalauth.ErrChanged) || errors.Is(err, externalauth.ErrDuplicateURL) {
		return nil
	}
	return err
}

// A second configuration with the ID of another one is refused, and the first one stays as it is.
func TestIDIsUsedOnce(t *testing.T) {
	t.Parallel()
	s := externalauthdb.New(dynamotest.Start(t), "test-externalauth", openBox{})
	c := externalauth.Configuration{ID: "c", Tenant: storedTenant, URL: "https://hooks.example.com/first"}
	errtest.Fatal(t, s.Create(t.Context(), c))
	second := c
	second.URL = "https://hooks.example.com/second"
	errtest.Fails(t, "a second configuration was stored under the same ID", s.Create(t.Context(), second))
	difftest.Equal(t, "the configuration has the URL", c.URL, errtest.Must(s.Get(t.Context(), c.Tenant, c.ID))(t).URL)
}
