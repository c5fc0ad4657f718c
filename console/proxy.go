package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"sluice/client"
)

// passedMethods are the methods of the interface.
var passedMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete}

// passedHeaders are the headers of a request that the interface has. All others are left out: what the browser sends to
// the console, such as cookies, is not for the service, and a page must not speak for other machines (X-Forwarded-...).
var passedHeaders = []string{"Accept", "Content-Type", "Content-Encoding", "Idempotency-Key", "If-Match",
	"If-None-Match",
	"Migrated-Transaction", "Skip-Rule-Execution", "X-Correlation-Id"}

// keptFromPage are headers of answers by which the service, or what is in front of it, would tell the browser what to
// do with the console; the console has its own (setSecurityHeaders).
var keptFromPage = []string{"Alt-Svc", "Cache-Control", "Clear-Site-Data", "Link", "Location", "Nel", "Referrer-Policy",
	"Refresh", "Report-To", "Reporting-Endpoints", "Server", "Service-Worker-Allowed", "Set-Cookie", "Sourcemap",
	"Strict-Transport-Security", "X-Content-Type-Options", "X-Frame-Options"}

// maxRepeatedBytes is the size of the largest body that is held in memory, so that the request can be repeated with a
// new token. Larger ones are only passed on.
const maxRepeatedBytes = 1 << 20

// newProxy returns what passes requests on to the service, with tokens. It calls observe with each answer.
func newProxy(c *client.Client, version string, observe func(*http.Response)) (*httputil.ReverseProxy, error) {
	base, err := url.Parse(c.APIURL())
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Transport:     c.Transport(),
		FlushInterval: -1, // an answer is passed on as it comes
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL = addressOf(base, p.In.URL)
			p.Out.Host, p.Out.Trailer = "", nil
			// Platform endpoints want the tenant of the token to be named (docs/contract/platform.md).
			p.Out.Header = http.Header{"User-Agent": {"sluice-console/" + version}, "X-Tenant-Id": {c.Tenant()}}
			for _, name := range passedHeaders {
				if values := p.In.Header.Values(name); len(values) > 0 {
					p.Out.Header[name] = values
				}
			}
		},
		ModifyResponse: func(r *http.Response) error {
			observe(r)
			for name := range r.Header {
				if slices.Contains(keptFromPage, name) || strings.HasPrefix(name, "Access-Control-") ||
					strings.HasPrefix(name, "Content-Security-Policy") || strings.HasPrefix(name, "Cross-Origin-") {
					delete(r.Header, name)
				}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				writeProblem(w, explainFailure(err))
			}
		},
	}, nil
}

// addressOf returns the address of the service for an address of the console below /api.
func addressOf(base, asked *url.URL) *url.URL {
	u := *base
	u.RawQuery, u.ForceQuery = asked.RawQuery, asked.ForceQuery
	u.Path = strings.TrimSuffix(base.Path, "/") + strings.TrimPrefix(asked.Path, "/api")
	u.RawPath = strings.TrimSuffix(base.EscapedPath(), "/") + strings.TrimPrefix(asked.EscapedPath(), "/api")
	return &u
}

// passOn passes a request on to the service, and the answer back.
func (s *Server) passOn(w http.ResponseWriter, r *http.Request) {
	switch {
	case !slices.Contains(passedMethods, r.Method):
		writeProblem(w, problem{Status: http.StatusMethodNotAllowed, Detail: "The interface has no such method."})
		return
	case hasDots(r.URL.Path) || r.Header.Get("Upgrade") != "":
		writeProblem(w, problem{Status: http.StatusBadRequest, Detail: "Such a request is not passed on to the " +
			"service."})
		return
	}
	if r.ContentLength > 0 && r.ContentLength <= maxRepeatedBytes {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the browser has gone
		}
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
	} else {
		// Else the server closes the body of the request when the answer begins. If the end of the body was not seen by
		// then, the connection to the service is closed in the middle of the answer.
		_ = http.NewResponseController(w).EnableFullDuplex() // which HTTP/1 supports
	}
	// What the service answers is data, also if somebody opens its address.
	w.Header().Set("Content-Security-Policy", contentPolicy+"; sandbox")
	s.proxy.ServeHTTP(w, r)
}

// hasDots reports whether a path has a segment that leads elsewhere, however it is written. A path that is escaped
// twice is what it is to the service, too: one name.
func hasDots(path string) bool {
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

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
