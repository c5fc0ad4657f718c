package platform

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"sluice/shared/access/httpapi"
)

// Paging seals positions in lists into page tokens. A token reveals nothing, and is valid only for the tenant and the
// query that it was made for.
type Paging struct {
	// loadKey returns a key of 32 bytes.
	loadKey func() ([]byte, error)
	mu      sync.Mutex
	// aead is nil until the key is needed.
	aead cipher.AEAD
}

// ErrPageToken means that a page token was not made for this tenant and query.
var ErrPageToken = errors.New("platform: the page token does not belong to this tenant and query")

// ForeignPageMessage is the message to a client for ErrPageToken.
const ForeignPageMessage = "The value is not of a page of this list: send it with the filters of its request, or " +
	"leave it out to begin anew."

// PagingKeyStore keeps the key of page tokens.
type PagingKeyStore interface {
	// PagingKey returns the stored key. If none is stored, it stores the candidate and returns it. Callers that run at
	// the same time all get the same key.
	PagingKey(ctx context.Context, candidate []byte) ([]byte, error)
}

// NewPaging returns a Paging with a key of 32 bytes.
func NewPaging(key []byte) (*Paging, error) {
	p := &Paging{loadKey: func() ([]byte, error) { return key, nil }}
	_, err := p.sealer()
	return p, err
}

// LoadPaging returns a Paging with the key of a store. The key is read once, for the first list, so that a cold start
// does not wait for the network; if that fails, the next list tries again. ctx bounds the reading, whichever request
// does it.
func LoadPaging(ctx context.Context, store PagingKeyStore) *Paging {
	return &Paging{loadKey: func() ([]byte, error) { return store.PagingKey(ctx, NewPagingKey()) }}
}

func (p *Paging) sealer() (cipher.AEAD, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aead != nil {
		return p.aead, nil
	}
	key, err := p.loadKey()
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

// Seal returns the token of a position; "" for "", the end of a list. It must be called after Open has returned without
// an error, which makes sure of the key.
func (p *Paging) Seal(tenant, query, position string) string {
	if position == "" {
		return ""
	}
	aead, err := p.sealer()
	if err != nil {
		panic(err) // Open was not called: a defect, answered as an internal error
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, []byte(position), additionalData(tenant, query)))
}

// Open returns the position of a token; "" for "", the beginning. The error is ErrPageToken if the token was not made
// for this tenant and query.
func (p *Paging) Open(tenant, query, token string) (string, error) {
	aead, err := p.sealer()
	if err != nil {
		return "", err
	}
	if token == "" {
		return "", nil
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPageToken, err)
	}
	position, err := aead.Open(nil, nil, sealed, additionalData(tenant, query))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPageToken, err)
	}
	return string(position), nil
}

// OpenQuery is Open for the query parameter next of the monitoring interface. A foreign token and an empty one are
// validation errors of it.
func (p *Paging) OpenQuery(tenant, query string, values url.Values) (string, error) {
	const name = "next"
	position, err := p.Open(tenant, query, values.Get(name))
	if errors.Is(err, ErrPageToken) || err == nil && values.Has(name) && values.Get(name) == "" {
		return "", httpapi.InvalidQuery(values, name, ForeignPageMessage, "page_token")
	}
	return position, err
}

// OpenPageToken is Open for the page token in a property of a request's body, and for its tenant. Without a token it
// returns "", the beginning. A foreign token and an empty one are validation errors of that property.
func (r *Request) OpenPageToken(p *Paging, query, property string, token *string) (string, error) {
	if token == nil {
		return p.Open(r.Tenant, query, "")
	}
	position, err := p.Open(r.Tenant, query, *token)
	if errors.Is(err, ErrPageToken) || err == nil && *token == "" {
		return "", r.Invalid(property, "The token does not belong to this search.", CodePageToken)
	}
	return position, err
}

// additionalData encodes a tenant and a query so that no other pair has the same bytes.
func additionalData(tenant, query string) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(len(tenant)))
	return append(append(b, tenant...), query...)
}

// NewPagingKey returns a random key.
func NewPagingKey() []byte {
	key := make([]byte, 32)
	rand.Read(key)
	return key
}
