package ratelimitdb_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/ratelimit"
	"sluice/shared/access/ratelimit/ratelimitdb"
	"sluice/shared/access/ratelimit/ratelimittest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// The store behaves as the one in memory.
func TestApply(t *testing.T) {
	db := dynamotest.Start(t)
	store, model := ratelimitdb.New(db, "test-limits"), ratelimittest.NewMemory()
	random := rand.New(rand.NewPCG(1, 2))
	counts := map[bool]int{}
	for i := range 300 {
		near := func() time.Time { return now.Add(time.Duration(i+random.IntN(9)-4) * time.Second) }
		c := ratelimit.Change{Now: near(), Expires: now.Add(time.Hour)}
		for _, period := range []time.Duration{time.Minute, time.Hour}[:1+i%2] {
			c.Steps = append(c.Steps, ratelimit.Step{Period: period, WasFull: random.IntN(2) == 0,
				Latest: near().Add(4 * time.Second), Implausible: near().Add(6 * time.Second),
				Add: time.Duration(random.Int64N(4)) * time.Second})
		}
		wantState, want, _ := model.Apply(t.Context(), "k", c)
		state, applied, err := store.Apply(t.Context(), "k", c)
		errtest.Fatal(t, err)
		if diff := cmp.Diff(len(wantState), len(state)); applied != want || diff != "" {
			t.Fatalf("change %d %+v: applied %t, want %t", i, c, applied, want)
		}
		for period, at := range wantState {
			if !at.Equal(state[period]) {
				t.Fatalf("change %d %+v: the state is %v, want %v", i, c, state, wantState)
			}
		}
		counts[applied]++
	}
	if counts[true] < 50 || counts[false] < 50 {
		t.Errorf("%v changes were made or not, want many of both", counts)
	}
}

// unhurried is a store that may take longer than the second that a limiter gives it, as on a busy machine.
type unhurried struct{ ratelimit.Store }

func (s unhurried) Apply(ctx context.Context, key string, c ratelimit.Change) (ratelimit.State, bool, error) {
	return s.Store.Apply(context.WithoutCancel(ctx), key, c)
}

func TestStored(t *testing.T) {
	db := dynamotest.Start(t)
	limiter := ratelimit.NewLimiter(unhurried{ratelimitdb.New(db, "test-limits")}, func() time.Time { return now })
	for _, name := range []ratelimit.Name{ratelimit.EntityCommands, ratelimit.Platform} {
		errtest.Fatal(t, errtest.Of(limiter.Allow(t.Context(), "7c2f1a52-3f6e-4b1e-9d0a-000000000001",
			ratelimit.Settings{}.Limit(name))))
	}
	dynamotest.CompareStored(t, db, "test-limits", "limits")
}

// Many functions at once take exactly what there is, however far their clocks are apart.
func TestConcurrentTakers(t *testing.T) {
	const takers = 8
	db := dynamotest.Start(t)
	store := unhurried{ratelimitdb.New(db, "test-limits")}
	for _, test := range []struct {
		name        string
		limit       ratelimit.Limit
		skew        time.Duration
		least, most int64
	}{
		{"one clock", ratelimit.Settings{}.Limit(ratelimit.BatchStatuses), 0, 120, 120},
		{"differing clocks", ratelimit.Settings{}.Limit(ratelimit.EntityCommands), 900 * time.Millisecond, 200, 203},
		{"portions", ratelimit.Settings{}.Limit(ratelimit.Platform), 0, 190, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			var allowed atomic.Int64
			var wg sync.WaitGroup
			for i := range takers {
				clock := now.Add(test.skew * time.Duration(i) / (takers - 1))
				limiter := ratelimit.NewLimiter(store, func() time.Time { return clock })
				wg.Go(func() {
					for {
						d, err := limiter.Allow(t.Context(), "tenant", test.limit)
						errtest.Is(t, "error", err, nil)
						if err != nil || !d.Allowed {
							return
						}
						allowed.Add(1)
					}
				})
			}
			wg.Wait()
			if got := allowed.Load(); got < test.least || got > test.most {
				t.Errorf("%d requests, want %d to %d", got, test.least, test.most)
			}
		})
	}
}
