// Package sealed encrypts the stored secrets of tenants, such as the secrets of OAuth clients and webhooks. Each text
// is sealed by AES-256-GCM under a random key of its own, which a key in KMS encrypts (envelope encryption). Tenant and
// purpose are bound to both: neither can be opened for another tenant or another purpose.
package sealed

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/kms"
)

// Purposes of sealed texts. Policies allow a function the use of the key for its purposes alone.
const (
	ExternalAuthentication = "external-authentication"
	Webhook                = "webhook"
	ScreeningAdapter       = "screening-adapter"
	LineIndex              = "line-index"
)

// kmsAPI is the part of the KMS client that a Box needs.
type kmsAPI interface {
	Encrypt(ctx context.Context, in *kms.EncryptInput, opts ...func(*kms.Options)) (*kms.EncryptOutput, error)
	Decrypt(ctx context.Context, in *kms.DecryptInput, opts ...func(*kms.Options)) (*kms.DecryptOutput, error)
}

// Box seals and opens texts. It is safe for concurrent use.
type Box struct {
	kms kmsAPI
	key string
}

// New returns a box that encrypts under the KMS key with the given ID or ARN.
func New(k kmsAPI, key string) *Box { return &Box{k, key} }

const (
	// format is the first byte of a sealed text.
	format = 1
	// dataKeyBytes is the size of the key of one text.
	dataKeyBytes = 32
	// headerBytes is the size of the format and of the length of the encrypted data key.
	headerBytes = 3
)

// ErrUnreadable means that a sealed text is damaged, or belongs to another tenant or purpose.
var ErrUnreadable = errors.New("sealed: unreadable")

// Seal encrypts a text for one tenant and purpose. Sealing it again gives other bytes.
func (b *Box) Seal(ctx context.Context, tenant, purpose string, plaintext []byte) ([]byte, error) {
	dataKey := make([]byte, dataKeyBytes)
	rand.Read(dataKey)
	defer clear(dataKey)
	out, err := b.kms.Encrypt(ctx, &kms.EncryptInput{
		KeyId: &b.key, Plaintext: dataKey, EncryptionContext: contextOf(tenant, purpose),
	})
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	aead, err := aeadOf(dataKey)
	if err != nil {
		return nil, err
	}
	text := binary.BigEndian.AppendUint16([]byte{format}, uint16(len(out.CiphertextBlob)))
	text = append(text, out.CiphertextBlob...)
	return aead.Seal(text, nil, plaintext, boundTo(tenant, purpose)), nil
}

// Open decrypts what Seal has returned for the same tenant and purpose, otherwise it returns an error.
func (b *Box) Open(ctx context.Context, tenant, purpose string, sealed []byte) ([]byte, error) {
	if len(sealed) < headerBytes || sealed[0] != format {
		return nil, ErrUnreadable
	}
	encryptedKey, text := sealed[headerBytes:], []byte(nil)
	n := int(binary.BigEndian.Uint16(sealed[1:]))
	if n > len(encryptedKey) {
		return nil, ErrUnreadable
	}
	encryptedKey, text = encryptedKey[:n], encryptedKey[n:]
	out, err := b.kms.Decrypt(ctx, &kms.DecryptInput{
		KeyId: &b.key, CiphertextBlob: encryptedKey, EncryptionContext: contextOf(tenant, purpose),
	})
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer clear(out.Plaintext)
	if len(out.Plaintext) != dataKeyBytes {
		return nil, ErrUnreadable
	}
	aead, err := aeadOf(out.Plaintext)
	if err != nil {
		return nil, err
	}
	plaintext, err := aead.Open(nil, nil, text, boundTo(tenant, purpose))
	if err != nil {
		return nil, ErrUnreadable
	}
	return plaintext, nil
}

// contextOf returns the encryption context, which KMS binds to the data key and logs.
func contextOf(tenant, purpose string) map[string]string {
	return map[string]string{"tenant": tenant, "purpose": purpose}
}

// boundTo returns the data that is authenticated with a text. No other tenant and purpose give the same.
func boundTo(tenant, purpose string) []byte {
	bound := binary.BigEndian.AppendUint16(nil, uint16(len(tenant)))
	return append(bound, tenant+purpose...)
}

// aeadOf returns AES-256-GCM that puts a random nonce before each text.
func aeadOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
