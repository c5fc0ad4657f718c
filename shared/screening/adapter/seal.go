package adapter

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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

// minBomb is the least size of a suspicious unpacked text, with any ratio.
const minBomb = 1 << 20

// Encode packs JSON text: gzip if that is wanted, then Base64. That is the whole form of data for providers without
// authentication.
func Encode(text []byte, compress bool) (string, error) {
	if !compress {
		return base64.StdEncoding.EncodeToString(text), nil
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// Decode undoes the Base64 of Encode and returns what Unpack reads. It returns an *InvalidError if the text is not
// Base64.
func Decode(data string) ([]byte, error) {
	packed, err := decodeBase64(data)
	if err != nil {
		return nil, invalidf("The response is not Base64 with padding.")
	}
	return packed, nil
}

// gzipMagic begins packed data that is compressed. JSON text never begins so.
var gzipMagic = []byte{0x1f, 0x8b}

// InvalidError is the error of a response, in a sentence for people. It quotes nothing of the response.
type InvalidError struct{ Message string }

// Error implements error.
func (e *InvalidError) Error() string { return e.Message }

func invalidf(format string, values ...any) error {
	return &InvalidError{fmt.Sprintf(format, values...)}
}

// Unpack returns the JSON text of what Open or Decode has returned, uncompressed if it is gzip. Text of more than
// MaxJSONBytes or, over 1 MiB, of more than MaxRatio times the packed size is an *InvalidError, and so is what is not
// gzip throughout; no more than that is ever held in memory.
func Unpack(packed []byte) ([]byte, error) {
	if !bytes.HasPrefix(packed, gzipMagic) {
		if len(packed) > MaxJSONBytes {
			return nil, invalidf("The response has more than %d bytes.", MaxJSONBytes)
		}
		return packed, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, invalidf("The response begins as gzip, but its header is damaged.")
	}
	limit := min(MaxJSONBytes, max(minBomb, MaxRatio*len(packed)))
	text, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case len(text) > limit && limit == MaxJSONBytes:
		return nil, invalidf("The response has more than %d bytes when it is unpacked.", MaxJSONBytes)
	case len(text) > limit:
		return nil, invalidf("The response is more than %d times as large when it is unpacked.", MaxRatio)
	case err != nil:
		return nil, invalidf("The gzip stream of the response is damaged.")
	}
	return text, nil
}
