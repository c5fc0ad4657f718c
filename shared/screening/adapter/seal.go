package adapter

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Lengths of keys in bytes.
const (
	EncryptionKeyBytes        = 32 // AES-256
	MinAuthenticationKeyBytes = 32
	MaxAuthenticationKeyBytes = 128
)

// Keys are the keys of one provider of one tenant. They are shared with its adapter.
type Keys struct {
	encryption     []byte
	authentication []byte
}

// ParseKeys reads keys as they are configured: Base64 with padding of 32 bytes for encryption, and of 32 to 128 other
// bytes for authentication. Its errors contain no part of a key.
func ParseKeys(encryption, authentication string) (*Keys, error) {
	e, err := decodeBase64(encryption)
	if err != nil || len(e) != EncryptionKeyBytes {
		return nil, fmt.Errorf("the encryption key must be the Base64 of %d bytes", EncryptionKeyBytes)
	}
	a, err := decodeBase64(authentication)
	if err != nil || len(a) < MinAuthenticationKeyBytes || len(a) > MaxAuthenticationKeyBytes {
		return nil, fmt.Errorf("the authentication key must be the Base64 of %d to %d bytes", MinAuthenticationKeyBytes,
			MaxAuthenticationKeyBytes)
	}
	if bytes.Equal(e, a) {
		return nil, errors.New("the encryption key and the authentication key must differ")
	}
	return &Keys{e, a}, nil
}

// String hides the keys from logs and messages.
func (*Keys) String() string { return "********" }

// GoString hides the keys from logs and messages.
func (*Keys) GoString() string { return "********" }

// Sealed is encrypted and authenticated data. Each part is text in Base64, as it is on the wire.
type Sealed struct {
	// Data is the ciphertext: in the member Data of a Message, in response of a Reply or in an upload.
	Data string
	// IV is the initialization vector, in the header IVHeader.
	IV string
	// MAC is the message authentication code of the ciphertext, in the header MACHeader.
	MAC string
}

// ErrNotAuthentic means that data was not sealed with the keys, or was changed. It does not name the part.
var ErrNotAuthentic = errors.New("adapter: not authentic")

// Seal packs and seals JSON text: gzip if that is wanted, then Base64, then AES-256-CBC with PKCS #7 padding under a
// random initialization vector, then HMAC-SHA256 of the bytes of the ciphertext.
func (k *Keys) Seal(text []byte, compress bool) (Sealed, error) {
	encoded, err := Encode(text, compress)
	if err != nil {
		return Sealed{}, err
	}
	iv := make([]byte, aes.BlockSize)
	rand.Read(iv)
	return k.seal([]byte(encoded), iv)
}

func (k *Keys) seal(encoded, iv []byte) (Sealed, error) {
	block, err := aes.NewCipher(k.encryption)
	if err != nil {
		return Sealed{}, err
	}
	padding := aes.BlockSize - len(encoded)%aes.BlockSize
	ciphertext := append(encoded, bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(ciphertext, ciphertext)
	to := base64.StdEncoding.EncodeToString
	return Sealed{to(ciphertext), to(iv), to(k.mac(ciphertext))}, nil
}

// Open verifies sealed data and returns the packed JSON text in it, for Unpack. The MAC is verified, in constant time,
// before anything is decrypted, and every failure is ErrNotAuthentic, so that nobody without the key for
// authentication learns anything of the plaintext.
//
// The MAC of the contract covers the ciphertext alone. A changed initialization vector changes the first 16 characters
// of the encrypted text and so the first 12 bytes of the packed text, nothing else; ParseAnswer explains why it
// cannot change the meaning of an answer.
func (k *Keys) Open(s Sealed) ([]byte, error) {
	ciphertext, errData := decodeBase64(s.Data)
	iv, errIV := decodeBase64(s.IV)
	mac, errMAC := decodeBase64(s.MAC)
	isAuthentic := hmac.Equal(mac, k.mac(ciphertext))
	if errors.Join(errData, errIV, errMAC) != nil || !isAuthentic || len(iv) != aes.BlockSize ||
		len(ciphertext) == 0 || len(ciphertext)%aes.BlockSize != 0 {
		return nil, ErrNotAuthentic
	}
	block, err := aes.NewCipher(k.encryption)
	if err != nil {
		return nil, err
	}
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(ciphertext, ciphertext)
	padding := int(ciphertext[len(ciphertext)-1])
	if padding < 1 || padding > aes.BlockSize {
		return nil, ErrNotAuthentic
	}
	encoded, end := ciphertext[:len(ciphertext)-padding], ciphertext[len(ciphertext)-padding:]
	if !bytes.Equal(end, bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, ErrNotAuthentic
	}
	packed, err := decodeBase64(string(encoded))
	if err != nil {
		return nil, ErrNotAuthentic
	}
	return packed, nil
}

func (k *Keys) mac(ciphertext []byte) []byte {
	h := hmac.New(sha256.New, k.authentication)
	h.Write(ciphertext)
	return h.Sum(nil)
}

// decodeBase64 decodes Base64 with padding. A text has one form only: there are no line feeds and no other spare bits.
func decodeBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("adapter: Base64 with line feeds")
	}
	return base64.StdEncoding.Strict().DecodeString(text)
}
