package authtest

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/shared/access"
	"sluice/shared/access/auth"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/tenancy"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Conform holds a registry against the contract of auth.Registry. Each call of open gives an empty one.
func Conform(t *testing.T, open func(t *testing.T) auth.Registry) {
	for name, test := range map[string]func(*testing.T, auth.Registry){
		"tenants": tenants, "clients": clients, "identify": identify, "keys": keys, "race of keys": raceOfKeys,
		"tokens": tokens,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var created = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

func aTenant(id string) auth.Tenant {
	return auth.Tenant{ID: id, CreatedAt: created,
		Settings: tenancy.Settings{MaxPast: time.Hour, MaxFuture: 720 * time.Hour, MainEntity: tenancy.ByPaymentType,
			Retention: 400 * 24 * time.Hour}}
}

func aClient(id, tenant string) auth.Client {
	_, hash := auth.NewSecret()
	return auth.Client{ID: id, Tenant: tenant, Permissions: []string{"BatchRead", "BatchUpload"},
		AccessLayers: access.Layers{Geographic: []string{"Ireland"}, BusinessRelated: []string{"Retail", "Corporate"}},
		Secret:       hash, CreatedAt: created}
}

func must[T any](t *testing.T) func(got T, err error) T {
	return func(got T, err error) T {
		t.Helper()
		errtest.Fatal(t, err)
		return got
	}
}

func equal(t *testing.T, want, got any) {
	t.Helper()
	difftest.Equal(t, "result", want, got)
}

func absent(t *testing.T, err error) {
	t.Helper()
	errtest.Is(t, "error", err, auth.ErrNotFound)
}

func tenants(t *testing.T, r auth.Registry) {
	ctx := t.Context()
	_, err := r.Tenant(ctx, "a")
	absent(t, err)
	_, err = r.EnableBatch(ctx, "a", true)
	absent(t, err)
	difftest.Len(t, "must", 0, must[[]auth.Tenant](t)(r.Tenants(ctx)))

	a, b := aTenant("a"), aTenant("b")
	b.Settings = auth.DefaultSettings()
	for _, one := range []auth.Tenant{b, a} {
		errtest.Fatal(t, r.CreateTenant(ctx, one))
		equal(t, one, must[auth.Tenant](t)(r.Tenant(ctx, one.ID)))
	}
	errtest.Is(t, "a tenant created twice", r.CreateTenant(ctx, auth.Tenant{ID: "a", CreatedAt: created}),
		auth.ErrExists)
	for _, on := range []bool{true, true, false, true} {
		a.BatchEnabled = on
		equal(t, a, must[auth.Tenant](t)(r.EnableBatch(ctx, "a", on)))
		equal(t, a, must[auth.Tenant](t)(r.Tenant(ctx, "a")))
	}
	_, err = r.ChangeTenant(ctx, "nobody", auth.TenantChange{})
	absent(t, err)
	_, err = r.ChangeTenant(ctx, "nobody",
		auth.TenantChange{Limits: map[ratelimit.Setting]*int64{ratelimit.OpenBatches: nil}})
	absent(t, err)
	demanded := true
	_, err = r.ChangeTenant(ctx, "nobody", auth.TenantChange{FourEyes: &demanded})
	absent(t, err)
	_, err = r.Tenant(ctx, "nobody")
	absent(t, err)
	past, future, rule, fourEyes := 48*time.Hour, time.Duration(0), tenancy.EitherParty, true
	many, none := int64(300), int64(0)
	for _, c := range []auth.TenantChange{
		{}, {MaxPast: &past}, {MaxFuture: &future, MainEntity: &rule}, {Retention: &past},
		{Retention: &future}, {Parquet: &fourEyes}, {FourEyes: &fourEyes, MaxPast: &future},
		{MaskPartialProperties: &fourEyes},
		{Limits: map[ratelimit.Setting]*int64{ratelimit.OpenBatches: nil}},
		{Limits: map[ratelimit.Setting]*int64{ratelimit.OpenBatches: &none, ratelimit.PlatformPerSecond: &many}},
		{Limits: map[ratelimit.Setting]*int64{ratelimit.OpenBatches: nil, ratelimit.BatchResultsPerMinute: &many},
			MaxPast: &past},
		{Limits: map[ratelimit.Setting]*int64{ratelimit.PlatformPerSecond: nil, ratelimit.BatchResultsPerMinute: nil}},
		{Limits: map[ratelimit.Setting]*int64{ratelimit.UploadURLsPerMinute: &many}},
	} {
		a = c.Apply(a)
		equal(t, a, must[auth.Tenant](t)(r.ChangeTenant(ctx, "a", c)))
		equal(t, a, must[auth.Tenant](t)(r.Tenant(ctx, "a")))
	}
	equal(t, []auth.Tenant{a, b}, must[[]auth.Tenant](t)(r.Tenants(ctx)))
}

func clients(t *testing.T, r auth.Registry) {
	ctx := t.Context()
	absent(t, r.CreateClient(ctx, aClient("1", "a")))
	_, err := r.Client(ctx, "1")
	absent(t, err)
	_, err = r.DisableClient(ctx, "1")
	absent(t, err)

	errtest.Fatal(t, r.CreateTenant(ctx, aTenant("a")))
	one, two := aClient("1", "a"), aClient("2", "a")
	for _, c := range []auth.Client{two, one} {
		errtest.Fatal(t, r.CreateClient(ctx, c))
		equal(t, c, must[auth.Client](t)(r.Client(ctx, c.ID)))
	}
	errtest.Is(t, "a client created twice", r.CreateClient(ctx, aClient("1", "a")), auth.ErrExists)
	_, err = r.Client(ctx, "a") // a tenant's ID is no client's
	absent(t, err)
	errtest.Is(t, "the only secret is removed", errtest.Of(r.RemoveSecret(ctx, "1", true)), auth.ErrOneSecret)
	first, second := one, one
	_, second.NextSecret = auth.NewSecret()
	second.NextSecretAt = one.CreatedAt.Add(time.Hour)
	equal(t, second, must[auth.Client](t)(r.AddSecret(ctx, "1", second.NextSecret, second.NextSecretAt)))
	equal(t, second, must[auth.Client](t)(r.Client(ctx, "1")))
	errtest.Is(t, "a third secret", errtest.Of(r.AddSecret(ctx, "1", second.NextSecret, second.NextSecretAt)),
		auth.ErrTwoSecrets)
	equal(t, first, must[auth.Client](t)(r.RemoveSecret(ctx, "1", true)))
	must[auth.Client](t)(r.AddSecret(ctx, "1", second.NextSecret, second.NextSecretAt))
	one.Secret = second.NextSecret
	equal(t, one, must[auth.Client](t)(r.RemoveSecret(ctx, "1", false)))
	equal(t, one, must[auth.Client](t)(r.Client(ctx, "1")))
	_, err = r.AddSecret(ctx, "none", one.Secret, one.CreatedAt)
	absent(t, err)
	_, err = r.RemoveSecret(ctx, "none", false)
	absent(t, err)
	one.Disabled = true
	for range 2 {
		equal(t, one, must[auth.Client](t)(r.DisableClient(ctx, "1")))
	}
	equal(t, []auth.Client{one, two}, must[[]auth.Client](t)(r.Clients(ctx)))
}

func identify(t *testing.T, r auth.Registry) {
	ctx := t.Context()
	tenant, client := aTenant("z"), aClient("1", "z")
	errtest.Fatal(t, errors.Join(r.CreateTenant(ctx, tenant), r.CreateTenant(ctx, aTenant("0")),
		r.CreateClient(ctx, client)))
	gotClient, gotTenant, err := r.ClientAndTenant(ctx, "1", "z")
	errtest.Fatal(t, err)
	equal(t, client, gotClient)
	equal(t, tenant, gotTenant)
	// whose client it is, the caller judges
	if _, other, err := r.ClientAndTenant(ctx, "1", "0"); err != nil || other.ID != "0" {
		t.Errorf("%v %v", other, err)
	}
	for _, pair := range [][2]string{{"1", "none"}, {"none", "z"}, {"none", "none"}, {"z", "1"}} {
		_, _, err := r.ClientAndTenant(ctx, pair[0], pair[1])
		absent(t, err)
	}
	must[auth.Tenant](t)(r.EnableBatch(ctx, "z", true))
	must[auth.Client](t)(r.DisableClient(ctx, "1"))
	if c, one, err := r.ClientAndTenant(ctx, "1", "z"); err != nil || !c.Disabled || !one.BatchEnabled {
		t.Errorf("%v %v %v: not what was written last", c, one, err)
	}
}

func keys(t *testing.T, r auth.Registry) {
	ctx := t.Context()
	read := func() ([]auth.Key, int64) {
		t.Helper()
		got, version, err := r.Keys(ctx)
		errtest.Fatal(t, err)
		return got, version
	}
	if got, version := read(); len(got) != 0 || version != 0 {
		t.Errorf("%v, version %d", got, version)
	}
	first := auth.Key{ID: "k1", KMSKey: "arn:aws:kms:x:1:key/1", PublicKey: []byte{1, 2}, ActiveFrom: created}
	second := auth.Key{ID: "k2", KMSKey: "2", PublicKey: []byte{3}, ActiveFrom: created.Add(time.Minute),
		RetireAt: created.Add(time.Hour)}
	sets := [][]auth.Key{{first}, {first, second}, {second}}
	errtest.Is(t, "keys of a version that never was", r.ReplaceKeys(ctx, sets[0], 1), auth.ErrChanged)
	for _, set := range sets {
		_, version := read()
		errtest.Fatal(t, r.ReplaceKeys(ctx, set, version))
		got, next := read()
		equal(t, set, got)
		if next == version {
			t.Error("the version stayed")
		}
		errtest.Is(t, "a stale version", r.ReplaceKeys(ctx, sets[0], version), auth.ErrChanged)
		got, _ = read()
		equal(t, set, got)
	}
}

// raceOfKeys lets many set the first keys: one wins, and what is stored is the winner's.
func raceOfKeys(t *testing.T, r auth.Registry) {
	ctx := t.Context()
	var winner atomic.Pointer[string]
	var wg sync.WaitGroup
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		wg.Go(func() {
			switch err := r.ReplaceKeys(ctx, []auth.Key{{ID: id, ActiveFrom: created}}, 0); {
			case err == nil:
				if !winner.CompareAndSwap(nil, &id) {
					t.Error("two winners")
				}
			case !errors.Is(err, auth.ErrChanged):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, _, err := r.Keys(ctx)
	if err != nil || winner.Load() == nil || !slices.ContainsFunc(got,
		func(k auth.Key) bool { return k.ID == *winner.Load() }) {
		t.Errorf("%v, %v", got, err)
	}
}

// tokens stores tokens of one and of another ID.
func tokens(t *testing.T, r auth.Registry) {
	ctx, now := t.Context(), time.Unix(1795680900, 0)
	_, err := r.SealedToken(ctx, "a")
	absent(t, err)
	until := now.Add(5 * time.Minute)
	first := auth.SealedToken{ID: "a", Key: "k1", ReuseUntil: until, Ciphertext: []byte{1}}
	second := auth.SealedToken{ID: "a", Key: "k1", ReuseUntil: until.Add(time.Minute), Ciphertext: []byte{2}}
	third := auth.SealedToken{ID: "a", Key: "k2", ReuseUntil: until, Ciphertext: []byte{3}}
	other := auth.SealedToken{ID: "b", Key: "k1", ReuseUntil: until, Ciphertext: []byte{4}}
	for _, step := range []struct {
		store auth.SealedToken
		at    time.Time
		want  auth.SealedToken
	}{
		{first, now, first}, {first, now, first}, {second, now, first}, {second, until.Add(-time.Second), first},
		{second, until, second}, {first, until, second}, {third, until, third}, {other, now, other},
	} {
		equal(t, step.want, must[auth.SealedToken](t)(r.StoreSealedToken(ctx, step.store, step.at)))
		equal(t, step.want, must[auth.SealedToken](t)(r.SealedToken(ctx, step.store.ID)))
	}
	difftest.Len(t, "tokens are listed as clients", 0, must[[]auth.Client](t)(r.Clients(ctx)))
}
