// Package fakekms speaks the part of the KMS protocol that Sluice uses, with P-256 and AES keys kept in a folder. It
// stands in for KMS in tests and in the local cloud; the keys are not protected by more than the folder's permissions.
package fakekms

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// Server is an http.Handler for the X-Amz-Target TrentService.*.
type Server struct {
	dir string
	mu  sync.Mutex
}

// New returns a server that keeps its keys in a folder, which it makes if need be.
func New(dir string) (*Server, error) {
	return &Server{dir: dir}, os.MkdirAll(dir, 0o700)
}

// Ensure makes a key of the given ID unless there is one.
func (s *Server) Ensure(id string) error {
	_, err := s.load(id)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.make(id)
}

func (s *Server) make(id string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return s.write(id, der)
}

// write keeps a key whole or not at all: a file that a crash cut short would lose the key of every token.
func (s *Server) write(id string, der []byte) error {
	if !keyID.MatchString(id) {
		return errors.New("a key ID has letters, digits and hyphens only")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.CreateTemp(s.dir, "new.*") // no key ID has a dot; mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(der)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(s.dir, id))
}

var keyID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// load reads a signing key by its ID or ARN: fs.ErrNotExist, errWrongUsage.
func (s *Server) load(id string) (*ecdsa.PrivateKey, error) {
	der, err := s.read(id)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(der, symmetricPrefix) {
		return nil, errWrongUsage
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("not an elliptic curve key")
	}
	return private, nil
}

// read returns the file of a key by its ID or ARN; fs.ErrNotExist.
func (s *Server) read(id string) ([]byte, error) {
	id = idOf(id)
	if !keyID.MatchString(id) {
		return nil, fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return os.ReadFile(filepath.Join(s.dir, id))
}

type request struct {
	KeyID            string `json:"KeyId"`
	KeySpec          string
	KeyUsage         string
	Message          []byte
	MessageType      string
	SigningAlgorithm string
	Tags             []tag
	// Those of Encrypt and Decrypt.
	Plaintext         []byte
	CiphertextBlob    []byte
	EncryptionContext map[string]string
}

type tag struct {
	Key   string `json:"TagKey"`
	Value string `json:"TagValue"`
}

const algorithm = "ECDSA_SHA_256"

// ServeHTTP implements http.Handler for the operations that the service and its tools use.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&in); err != nil {
		refuse(w, "ValidationException", "the request is not valid")
		return
	}
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "TrentService.")
	switch operation {
	case "CreateKey":
		s.create(w, in)
		return
	case "Encrypt":
		s.encrypt(w, in)
		return
	case "Decrypt":
		s.decrypt(w, in)
		return
	}
	key, err := s.load(in.KeyID)
	if err != nil {
		refuseKey(w, err)
		return
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		refuse(w, "KMSInternalException", "the key is unusable")
		return
	}
	switch operation {
	case "GetPublicKey":
		reply(w, map[string]any{"KeyId": in.KeyID, "PublicKey": public, "KeySpec": "ECC_NIST_P256",
			"KeyUsage": "SIGN_VERIFY", "SigningAlgorithms": []string{algorithm}})
	case "Sign":
		if in.MessageType != "DIGEST" || in.SigningAlgorithm != algorithm || len(in.Message) != crypto.SHA256.Size() {
			refuse(w, "ValidationException", "only "+algorithm+" of a digest is signed")
			return
		}
		signature, err := key.Sign(rand.Reader, in.Message, crypto.SHA256)
		if err != nil {
			refuse(w, "KMSInternalException", "the key is unusable")
			return
		}
		reply(w, map[string]any{"KeyId": in.KeyID, "Signature": signature, "SigningAlgorithm": algorithm})
	default:
		refuse(w, "UnsupportedOperationException", operation+" is not supported here")
	}
}

func (s *Server) create(w http.ResponseWriter, in request) {
	if in.KeySpec != "ECC_NIST_P256" || in.KeyUsage != "SIGN_VERIFY" {
		refuse(w, "ValidationException", "only ECC_NIST_P256 keys for SIGN_VERIFY are made")
		return
	}
	id := uuid.NewString()
	if err := errors.Join(s.tag(id, in.Tags), s.make(id)); err != nil {
		refuse(w, "KMSInternalException", "the key could not be kept")
		return
	}
	reply(w, map[string]any{"KeyMetadata": map[string]any{"KeyId": id, "Arn": ARN(id)}})
}

// tagsEnd ends the name of the file with the tags of a key. No key ID has a dot.
const tagsEnd = ".tags"

func (s *Server) tag(id string, tags []tag) error {
	if len(tags) == 0 {
		return nil
	}
	text, err := json.Marshal(tags)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, id+tagsEnd), text, 0o600)
}

// TagOf returns the value of a tag of a key, given by its ID or ARN; "" if the key has no such tag. Upper and lower
// case of the tag's name are the same here, as they are in the condition keys of policies.
func (s *Server) TagOf(key, name string) string {
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.Base(key)+tagsEnd))
	if err != nil {
		return ""
	}
	var tags []tag
	_ = json.Unmarshal(text, &tags) // it was written by tag
	for _, t := range tags {
		if strings.EqualFold(t.Key, name) {
			return t.Value
		}
	}
	return ""
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, code, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	status := http.StatusBadRequest
	if code == "KMSInternalException" {
		status = http.StatusInternalServerError
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
}
