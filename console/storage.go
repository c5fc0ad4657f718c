package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"sluice/client"
)

const (
	// signedURLHeader names the signed address to which the page sends a file.
	signedURLHeader = "Sluice-Signed-Url"
	// maxSignedUploads is how many signed addresses are known at a time, the latest ones.
	maxSignedUploads = 1000
	// maxSignedReply is the size of the largest answer in which a signed address is looked for.
	maxSignedReply = 1 << 20
)

// signedUploads are the addresses at which the service has asked the page to store files of documents. The page may
// send requests to the console only, which passes files on to these addresses and to no others. It is safe for
// concurrent use.
type signedUploads struct {
	mu sync.Mutex
	// headers are those that the upload to an address must have, by the digests of the addresses, which are in order.
	headers map[[sha256.Size]byte]map[string]string
	order   [][sha256.Size]byte
}

// observe notes the signed address in an answer of the service, if it has one.
func (u *signedUploads) observe(r *http.Response) {
	path := r.Request.URL.Path
	isUpload := strings.Contains(path, "/documentmanagementcommand/") ||
		strings.HasSuffix(path, "/documents/upload-url")
	isChange := r.Request.Method == http.MethodPost || r.Request.Method == http.MethodPut
	if !isUpload || !isChange || r.StatusCode < 200 || r.StatusCode > 299 {
		return
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxSignedReply))
	rest := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), rest), rest}
	var reply struct {
		Data struct {
			SignedURLToUpload string            `json:"signedUrlToUpload"`
			SignedURL         string            `json:"signedUrl"`
			RequiredHeaders   map[string]string `json:"requiredHeaders"`
		} `json:"data"`
	}
	if err != nil || json.Unmarshal(text, &reply) != nil {
		return
	}
	for _, address := range []string{reply.Data.SignedURLToUpload, reply.Data.SignedURL} {
		if address != "" {
			u.add(address, reply.Data.RequiredHeaders)
		}
	}
}

// add notes an address, and forgets the oldest one beyond maxSignedUploads.
func (u *signedUploads) add(address string, headers map[string]string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.headers == nil {
		u.headers = map[[sha256.Size]byte]map[string]string{}
	}
	digest := sha256.Sum256([]byte(address))
	if _, isKnown := u.headers[digest]; !isKnown {
		u.order = append(u.order, digest)
	}
	u.headers[digest] = headers
	if len(u.order) > maxSignedUploads {
		delete(u.headers, u.order[0])
		u.order = u.order[1:]
	}
}

// get returns the headers of the upload to an address; ok is false for one that the service has not given.
func (u *signedUploads) get(address string) (headers map[string]string, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	headers, ok = u.headers[sha256.Sum256([]byte(address))]
	return headers, ok
}

// store passes a file on to the signed address that its header names, with the headers that the service has asked for.
func (s *Server) store(w http.ResponseWriter, r *http.Request) {
	address := r.Header.Get(signedURLHeader)
	headers, ok := s.signed.get(address)
	switch {
	case !ok:
		writeProblem(w, problem{Status: http.StatusForbidden, Title: "The file cannot be sent there",
			Detail:    "The service has not given this address to the console, or long ago.",
			ErrorCode: "unknown_address"})
		return
	case r.ContentLength < 0:
		writeProblem(w, problem{Status: http.StatusLengthRequired, Detail: "The size of the file is missing."})
		return
	}
	out, err := http.NewRequestWithContext(r.Context(), http.MethodPut, address, r.Body)
	if err != nil {
		writeProblem(w, problem{Status: http.StatusBadGateway, Title: "The service gives a strange address"})
		return
	}
	if out.ContentLength = r.ContentLength; r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	for name, value := range headers {
		out.Header.Set(name, value)
	}
	if err := s.storeAt(out); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// storeAt sends a file to storage. The error does not have the address.
func (s *Server) storeAt(r *http.Request) error {
	resp, err := s.storage.RoundTrip(r)
	var failure *url.Error
	if errors.As(err, &failure) {
		err = failure.Err
	}
	if err != nil {
		return &client.UnreachableError{Host: r.URL.Host, Err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	var body struct{ Code, Message string }
	_ = xml.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&body) // other answers have a status alone
	return &client.StorageError{Status: resp.StatusCode, Code: body.Code, Message: body.Message}
}
