package platform_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestPageTokens(t *testing.T) {
	newPaging := func() *platform.Paging {
		return errtest.Must(platform.NewPaging(platform.NewPagingKey()))(t)
	}
	p := newPaging()
	token := p.Seal("t", "q", "here")
	difftest.Equal(t, "Open", "here", errtest.Must(p.Open("t", "q", token))(t))
	difftest.Equal(t, "the end of a list has the token", "", p.Seal("t", "q", ""))
	expectForeign := func(p *platform.Paging, tenant, query, token string) {
		t.Helper()
		errtest.Is(t, fmt.Sprintf("Open(%q, %q, %q)", tenant, query, token), errtest.Of(p.Open(tenant, query, token)),
			platform.ErrPageToken)
	}
	expectForeign(p, "t2", "q", token)
	expectForeign(p, "t", "q2", token)
	expectForeign(p, "tq", "", token)
	expectForeign(newPaging(), "t", "q", token)
	for i := range token {
		changed := []byte(token)
		changed[i] ^= 1
		expectForeign(p, "t", "q", string(changed))
		expectForeign(p, "t", "q", token[:i]+"!")
	}
	expectForeign(p, "t", "q", token+"A")
}

// keyStore is a store of the paging key whose first read fails.
type keyStore struct {
	fail  error
	reads int
}

func (k *keyStore) PagingKey(_ context.Context, candidate []byte) ([]byte, error) {
	if err := k.fail; err != nil {
		k.fail = nil
		return nil, err
	}
	k.reads++
	return candidate, nil
}

// The key is read when it is needed, once, and again only if that has failed.
func TestPagingKeyIsReadWhenNeeded(t *testing.T) {
	lost := errors.New("lost")
	store := &keyStore{fail: lost}
	p := platform.LoadPaging(t.Context(), store)
	if _, err := p.Open("t", "q", ""); !errors.Is(err, lost) || store.reads != 0 {
		t.Errorf("got %v after %d reads, want %v after none", err, store.reads, lost)
	}
	for range 2 {
		errtest.Fatal(t, errtest.Of(p.Open("t", "q", "")))
		got, err := p.Open("t", "q", p.Seal("t", "q", "here"))
		if err != nil || got != "here" || store.reads != 1 {
			t.Errorf("got %q, %v after %d reads, want here after 1", got, err, store.reads)
		}
	}
}
