package platform

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
)

// Paging seals positions in lists, so that a token tells nothing and counts for its tenant and query only.
type Paging struct{ aead cipher.AEAD }

// NewPaging returns the sealer of a key of 32 bytes.
func NewPaging(key []byte) (*Paging, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Paging{aead}, err
}

// Seal makes the token of a position; "" stays "", the end of a list.
func (p *Paging) Seal(tenant, query, position string) string {
	if position == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(p.aead.Seal(nil, nil, []byte(position), bound(tenant, query)))
}

// Open returns the position of a token; "" of "". A token that was not made for this tenant and query is a 400.
func (p *Paging) Open(tenant, query, token string) (string, error) {
	if token == "" {
		return "", nil
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err == nil {
		var position []byte
		if position, err = p.aead.Open(nil, nil, sealed, bound(tenant, query)); err == nil {
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
