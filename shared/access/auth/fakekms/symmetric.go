package fakekms

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// symmetricPrefix begins the file of a symmetric key. The file of a signing key is DER, which begins otherwise.
var symmetricPrefix = []byte("AES-256-GCM ")

// maxPlaintextBytes is the longest text that KMS encrypts itself.
const maxPlaintextBytes = 4096

// EnsureSymmetric makes a key of the given ID that encrypts and decrypts unless there is one.
func (s *Server) EnsureSymmetric(id string) error {
	_, err := s.read(id)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key := make([]byte, 32)
	rand.Read(key)
	return s.write(id, append(bytes.Clone(symmetricPrefix), key...))
}

// loadSymmetric reads a symmetric key by its ID or ARN: fs.ErrNotExist, errWrongUsage.
func (s *Server) loadSymmetric(id string) (cipher.AEAD, error) {
	file, err := s.read(id)
	if err != nil {
		return nil, err
	}
	key, ok := bytes.CutPrefix(file, symmetricPrefix)
	if !ok {
		return nil, errWrongUsage
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// encrypt answers Encrypt. The ciphertext begins with the length and the ID of its key, so that Decrypt needs none.
func (s *Server) encrypt(w http.ResponseWriter, in request) {
	aead, err := s.loadSymmetric(in.KeyID)
	if err != nil {
		refuseKey(w, err)
		return
	}
	if len(in.Plaintext) == 0 || len(in.Plaintext) > maxPlaintextBytes {
		refuse(w, "ValidationException", "the plaintext must have 1 to 4096 bytes")
		return
	}
	id := idOf(in.KeyID)
	blob := append([]byte{byte(len(id))}, id...)
	blob = aead.Seal(blob, nil, in.Plaintext, encodeContext(in.EncryptionContext))
	reply(w, map[string]any{"KeyId": ARN(id), "CiphertextBlob": blob, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"})
}

// decrypt answers Decrypt.
func (s *Server) decrypt(w http.ResponseWriter, in request) {
	blob := in.CiphertextBlob
	if len(blob) == 0 || len(blob) < 1+int(blob[0]) {
		refuse(w, "InvalidCiphertextException", "the ciphertext is not valid")
		return
	}
	id, text := string(blob[1:1+int(blob[0])]), blob[1+int(blob[0]):]
	if in.KeyID != "" && idOf(in.KeyID) != id {
		refuse(w, "IncorrectKeyException", "another key has encrypted the text")
		return
	}
	aead, err := s.loadSymmetric(id)
	if err != nil {
		refuseKey(w, err)
		return
	}
	plaintext, err := aead.Open(nil, nil, text, encodeContext(in.EncryptionContext))
	if err != nil {
		refuse(w, "InvalidCiphertextException", "the ciphertext or the encryption context is not valid")
		return
	}
	reply(w, map[string]any{"KeyId": ARN(id), "Plaintext": plaintext, "EncryptionAlgorithm": "SYMMETRIC_DEFAULT"})
}

// encodeContext returns the bytes that an encryption context adds to what is authenticated.
func encodeContext(context map[string]string) []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(context)) {
		for _, text := range []string{name, context[name]} {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(text))), text...)
		}
	}
	return out
}

// errWrongUsage means that a key does not serve for an operation.
var errWrongUsage = errors.New("the key does not serve for this operation")

// refuseKey answers a request whose key cannot be used.
func refuseKey(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		refuse(w, "NotFoundException", "no such key")
	case errors.Is(err, errWrongUsage):
		refuse(w, "InvalidKeyUsageException", errWrongUsage.Error())
	default:
		refuse(w, "KMSInternalException", "the key is unusable")
	}
}

// ARN returns the ARN of a key.
func ARN(id string) string { return "arn:aws:kms:us-east-1:000000000000:key/" + id }

// idOf returns the ID of a key that is given by its ID or ARN.
func idOf(key string) string {
	if i := strings.LastIndex(key, "key/"); i >= 0 {
		return key[i+len("key/"):]
	}
	return key
}
