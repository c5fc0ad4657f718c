package ratelimit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sluice/shared/access/ratelimit"
	"sluice/shared/access/ratelimit/ratelimittest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var start = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// function is one function that asks, with a clock that differs from the true one.
type function struct {
	*ratelimit.Limiter
	offset time.Duration
}

// service is functions that share a store.
type service struct {
	t         *testing.T
	store     *ratelimittest.Memory
	now       time.Time
	functions []*function
}

func newService(t *testing.T, offsets ...time.Duration) *service {
	s := &service{t: t, store: ratelimittest.NewMemory(), now: start}
	for _, offset := range offsets {
		f := &function{offset: offset}
		f.Limiter = ratelimit.NewLimiter(s.store, func() time.Time { return s.now.Add(f.offset) })
		s.functions = append(s.functions, f)
	}
	return s
}

// take asks one function.
func (s *service) take(f int, limit ratelimit.Limit) ratelimit.Decision {
	s.t.Helper()
	return errtest.Must(s.functions[f].Allow(s.t.Context(), "tenant", limit))(s.t)
}

// takeAll asks one function until it refuses, and returns how many requests it allowed.
func (s *service) takeAll(f int, limit ratelimit.Limit) int64 {
	for n := int64(0); ; n++ {
		if !s.take(f, limit).Allowed {
			return n
		}
	}
}

func TestBoundaries(t *testing.T) {
	s := newService(t, 0)
	limit := ratelimit.Settings{}.Limit(ratelimit.UploadURLs) // 20 a minute
	for i := range int64(20) {
		got := s.take(0, limit)
		want := ratelimit.Decision{Allowed: true, Limited: true, Remaining: 19 - i, Reset: 3 * time.Second}
		difftest.Equal(t, fmt.Sprintf("request %d", i+1), want, got)
	}
	refused := ratelimit.Decision{Limited: true, Reset: 3 * time.Second, RetryAfter: 3 * time.Second}
	difftest.Equal(t, "request 21", refused, s.take(0, limit))
	difftest.Equal(t, "writes: one for each request that was allowed", 20, s.store.Writes())
	s.now = s.now.Add(3*time.Second - 1)
	if got := s.take(0, limit); got.Allowed || got.RetryAfter != 1 {
		t.Errorf("a nanosecond too early: got %+v, want a refusal", got)
	}
	s.now = s.now.Add(1)
	difftest.Equal(t, "after 3 seconds: requests", int64(1), s.takeAll(0, limit))
	s.now = s.now.Add(time.Minute)
	difftest.Equal(t, "after a minute: requests", int64(20), s.takeAll(0, limit))
	s.now = s.now.Add(24 * time.Hour)
	difftest.Equal(t, "after a day: requests", int64(20), s.takeAll(0, limit))
}

// The tightest of several windows decides, and a request that it refuses is taken from none.
func TestSeveralWindows(t *testing.T) {
	s := newService(t, 0)
	limit := ratelimit.Settings{
		ratelimit.EntityCommandsPerMinute: 10, ratelimit.EntityCommandsPerHour: 25, ratelimit.EntityCommandsPerDay: 30,
	}.Limit(ratelimit.EntityCommands)
	for i, want := range []int64{10, 10, 5, 1} { // in 2 minutes and 24 seconds, the window of an hour gains one
		difftest.Equal(t, fmt.Sprintf("minute %d: requests", i), want, s.takeAll(0, limit))
		s.now = s.now.Add(time.Minute)
	}
	s.now = s.now.Add(time.Hour)
	if got := s.takeAll(0, limit); got != 5 { // 30 a day: 26 are gone, and one has come in the meantime
		t.Errorf("after an hour: %d requests, want 5", got)
	}
	if got := s.take(0, limit); got.Allowed || got.RetryAfter < 30*time.Minute {
		t.Errorf("the limit of the day: got %+v, want a refusal for most of an hour", got)
	}
}

func TestNoLimit(t *testing.T) {
	s := newService(t, 0)
	for range 3 {
		unlimited := ratelimit.Unlimited().Limit(ratelimit.Platform)
		difftest.Equal(t, "take", ratelimit.Decision{Allowed: true}, s.take(0, unlimited))
	}
	difftest.Equal(t, "writes", 0, s.store.Writes())
}

// A limit for each second is taken in portions by a function with many requests, and one by one by the others.
func TestPortions(t *testing.T) {
	s := newService(t, 0, 0)
	limit := ratelimit.Settings{}.Limit(ratelimit.SingleTransactions)
	difftest.Equal(t, "requests at once", int64(500), s.takeAll(0, limit))
	if s.store.Writes() > 60 {
		t.Errorf("%d writes for 500 requests, want portions of 10", s.store.Writes())
	}
	before := s.store.Writes()
	for range 20 {
		s.now = s.now.Add(time.Second)
		if got := s.take(1, limit); !got.Allowed || got.Remaining != 499 {
			t.Fatalf("one request a second: got %+v, want 499 remaining", got)
		}
	}
	difftest.Equal(t, "writes for 20 requests", 20, s.store.Writes()-before)
}

// simpleBucket is the model of one window: its content, as the time in which it would be gained.
type simpleBucket struct {
	content, capacity, interval time.Duration
	at                          time.Time
}

func newSimpleBucket(w ratelimit.Window) *simpleBucket {
	interval := w.Period / time.Duration(w.Requests)
	return &simpleBucket{interval * time.Duration(w.Requests), interval * time.Duration(w.Requests), interval, start}
}

func (b *simpleBucket) fill(now time.Time) {
	b.content, b.at = min(b.capacity, b.content+now.Sub(b.at)), now
}

// With one function, every decision equals the model's.
func TestOneFunctionIsExact(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := newService(t, 0)
		limit := ratelimit.Limit{Name: "x", Windows: []ratelimit.Window{
			{time.Minute, 1 + random.Int64N(50)}, {time.Hour, 1 + random.Int64N(200)},
		}}
		var model []*simpleBucket
		for _, w := range limit.Windows {
			model = append(model, newSimpleBucket(w))
		}
		for i := range 400 {
			s.now = s.now.Add(time.Duration(random.ExpFloat64() * float64(20*time.Second)))
			if random.IntN(3) > 0 {
				s.now = s.now.Add(-s.now.Sub(model[0].at)) // at once
			}
			allowed, remaining := true, int64(1<<60)
			for _, b := range model {
				b.fill(s.now)
				allowed = allowed && b.content >= b.interval
			}
			for _, b := range model {
				if allowed {
					b.content -= b.interval
				}
				remaining = min(remaining, int64(b.content/b.interval))
			}
			got := s.take(0, limit)
			if !allowed && got.Allowed || allowed && !got.Allowed {
				t.Fatalf("seed %d, request %d of %+v: got %+v, want allowed %t", seed, i, limit, got, allowed)
			}
			if got.Remaining != remaining || (got.RetryAfter > 0) == allowed {
				t.Fatalf("seed %d, request %d of %+v: got %+v, want %d remaining", seed, i, limit, got, remaining)
			}
		}
	}
}

// With many functions and their clocks, nobody makes more requests than Limiter promises, and a client that waits as it
// is told makes nearly as many.
func TestManyFunctionsKeepThePromise(t *testing.T) {
	const skew = 100 * time.Millisecond
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		var offsets []time.Duration
		for range 1 + random.IntN(6) {
			offsets = append(offsets, time.Duration(random.Int64N(int64(skew))))
		}
		s := newService(t, offsets...)
		w := ratelimit.Window{Period: time.Second, Requests: 1 + random.Int64N(400)}
		slack := skew + 200*time.Millisecond
		if random.IntN(2) == 0 {
			w, slack = ratelimit.Window{Period: time.Minute, Requests: 1 + random.Int64N(400)}, skew
		}
		limit := ratelimit.Limit{Name: "x", Windows: []ratelimit.Window{w}}
		interval := w.Period / time.Duration(w.Requests)
		var allowed []time.Time
		for range 3000 {
			s.now = s.now.Add(time.Duration(random.ExpFloat64() * float64(interval) * 0.5))
			if s.take(random.IntN(len(offsets)), limit).Allowed {
				allowed = append(allowed, s.now)
			}
		}
		for i := range allowed {
			for j := i; j < len(allowed); j += 1 + j/7 {
				most := w.Requests + int64((allowed[j].Sub(allowed[i])+slack)/interval) + 1
				if n := int64(j - i + 1); n > most {
					t.Fatalf("seed %d: %d requests of %v in %v, want %d at most", seed, n, w,
						allowed[j].Sub(allowed[i]), most)
				}
			}
		}
		elapsed := s.now.Sub(start)
		if least := min(int64(elapsed/interval)*8/10, w.Requests) - int64(len(offsets))*10; int64(
			len(allowed)) < least {
			t.Errorf("seed %d: %d requests of %v in %v, want %d at least", seed, len(allowed), w, elapsed, least)
		}
	}
}

// A time that only a wrong clock can have written shuts nobody out.
func TestWrongClock(t *testing.T) {
	limit := ratelimit.Settings{}.Limit(ratelimit.UploadURLs)
	for _, test := range []struct {
		ahead time.Duration
		want  int64
	}{{0, 20}, {time.Minute, 0}, {2 * time.Minute, 0}, {2*time.Minute + 1, 20}, {1000 * time.Hour, 20}} {
		t.Run(fmt.Sprint(test.ahead), func(t *testing.T) {
			s := newService(t, 0)
			s.store.Set("tenant/upload_urls", time.Minute, start.Add(test.ahead))
			difftest.Equal(t, "requests", test.want, s.takeAll(0, limit))
		})
	}
}

// The greatest and the smallest settings do not overflow.
func TestExtremes(t *testing.T) {
	for _, w := range []ratelimit.Window{
		{time.Second, 1_000_000_000}, {24 * time.Hour, 1_000_000_000}, {24 * time.Hour, 1}, {time.Second, 1},
		{time.Second, 7},
		{5 * time.Minute, 100},
	} {
		s := newService(t, 0)
		limit := ratelimit.Limit{Name: "x", Windows: []ratelimit.Window{w}}
		for i := range int64(3) {
			got := s.take(0, limit)
			if got.Allowed != (i < w.Requests) || got.Remaining != max(w.Requests-1-i, 0) || got.Reset < 1 {
				t.Errorf("%v, request %d: got %+v", w, i, got)
			}
		}
	}
}

// A change of a limit keeps the proportion that is used.
func TestChangedLimit(t *testing.T) {
	s := newService(t, 0)
	for range 10 {
		s.take(0, ratelimit.Settings{}.Limit(ratelimit.UploadURLs))
	}
	difftest.Equal(t, "requests of 200 when half of 20 were used", int64(100),
		s.takeAll(0, ratelimit.Settings{ratelimit.UploadURLsPerMinute: 200}.Limit(ratelimit.UploadURLs)))
}

// A store that fails refuses nobody, and is left alone for a while.
func TestStoreFails(t *testing.T) {
	s := newService(t, 0)
	broken := true
	s.store.Fail = func() error {
		if broken {
			return errors.New("no answer")
		}
		return nil
	}
	limit := ratelimit.Settings{}.Limit(ratelimit.UploadURLs)
	for range 30 {
		d, err := s.functions[0].Allow(t.Context(), "tenant", limit)
		if !d.Allowed || d.Limited || err == nil {
			t.Fatalf("got %+v, %v; want it allowed, with an error", d, err)
		}
	}
	difftest.Equal(t, "times that the store was asked", 1, s.store.Writes())
	broken = false
	s.now = s.now.Add(5 * time.Second)
	difftest.Equal(t, "afterwards: requests", int64(20), s.takeAll(0, limit))
}

func TestSettings(t *testing.T) {
	difftest.Equal(t, "no settings", "", ratelimit.ParseSettings("").String())
	s := ratelimit.Settings{ratelimit.OpenBatches: 0, ratelimit.PlatformPerSecond: 300}
	difftest.Equal(t, "String", "open_batches=0 platform_per_second=300", s.String())
	got := ratelimit.ParseSettings(s.String() + " unknown=1 upload_urls_per_minute=-1 batch_results_per_minute= x")
	if got.String() != s.String() {
		t.Errorf("got %q, want %q", got, s)
	}
	for _, name := range ratelimit.AllSettings() {
		if name.Default() <= 0 || name.Default() > name.Max() || ratelimit.Unlimited().Get(name) != 0 ||
			s.Get(ratelimit.BatchResultsPerMinute) != 120 || s.Get(ratelimit.PlatformPerSecond) != 300 {
			t.Errorf("%s: the default is %d of at most %d", name, name.Default(), name.Max())
		}
	}
	if len(ratelimit.TokenRequestLimit(0).Windows) != 0 || len(ratelimit.TokenRequestLimit(100).Windows) != 1 {
		t.Error("0 means no limit of token requests, 100 means one")
	}
}
