package platform

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"sync"
)

// Paging seals positions in lists, so that a token tells nothing and counts for its tenant and query only.
type Paging struct {
	key  func() ([]byte, error) // of 32 bytes
	mu   sync.Mutex
	aead cipher.AEAD // nil before the key is needed
}

// NewPaging returns the sealer of a key of 32 bytes.
func NewPaging(key []byte) (*Paging, error) {
	p := &Paging{key: func() ([]byte, error) { return key, nil }}
	_, err := p.sealer()
	return p, err
}

// LoadPaging returns the sealer of the key that a store keeps. The key is read, once, when the first list is asked for: a cold
// start waits for no network. The context bounds that reading, in whichever request it happens.
func LoadPaging(ctx context.Context, store interface {
	// PagingKey returns the stored key. The first caller's candidate becomes it.
	PagingKey(ctx context.Context, candidate []byte) ([]byte, error)
}) *Paging {
	return &Paging{key: func() ([]byte, error) { return store.PagingKey(ctx, NewPagingKey()) }}
}

func (p *Paging) sealer() (cipher.AEAD, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aead != nil {
		return p.aead, nil
	}
	key, err := p.key()
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	p.aead, err = cipher.NewGCMWithRandomNonce(block)
	return p.aead, err
}

// Seal makes the token of a position; "" stays "", the end of a list. Every list begins with Open, which makes sure of the key.
func (p *Paging) Seal(tenant, query, position string) string {
	if position == "" {
		return ""
	}
	aead, err := p.sealer()
	if err != nil {
		panic(err) // nothing was opened before; an internal error like any other
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, []byte(position), bound(tenant, query)))
}

// Open returns the position of a token; "" of "". A token that was not made for this tenant and query is a 400.
func (p *Paging) Open(tenant, query, token string) (string, error) {
	aead, err := p.sealer()
	if err != nil {
		return "", err
	}
	if token == "" {
		return "", nil
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err == nil {
		var position []byte
		if position, err = aead.Open(nil, nil, sealed, bound(tenant, query)); err == nil {
			return string(position), nil
		}
	}
	var f Faults
	f.Add("pageOptions.paginationToken", "The token does not belong to this search.", BadPaging)
	return "", f.Err().Because(err)
}

// bound writes both parts so that no other pair gives the same bytes.
func bound(tenant, query string) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(len(tenant)))
	return append(append(b, tenant...), query...)
}

// NewPagingKey returns a random key.
func NewPagingKey() []byte {
	key := make([]byte, 32)
	rand.Read(key)
	return key
}
