// Package console is the server of 'sluice console': it serves the page to a browser on the same machine, and holds
// what a page must not have. That are the credentials, with which it passes requests on to the service, the files that
// are checked and uploaded, and what is known of the machine itself.
//
// The page is in web and is built into assets. Every request is guarded (guard.go) before anything else: only a
// browser in which the address was opened that the command has printed is answered, and only pages of the console
// itself.
package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"sluice/client"
)

// Config says what a console shows. Client and Address are required.
type Config struct {
	// Client calls the service on behalf of whoever looks at the page.
	Client *client.Client
	// Address is the host and the port at which the console listens. Requests to other hosts are refused, but for
	// localhost.
	Address string
	// Info is what the page is told of the connection.
	Info Info
	// Spool is where the temporary folder of dropped files is made; "" means the system's.
	Spool string
	// Assets are the files of the page; nil means those that the program was built with.
	Assets fs.FS
	// Metrics says where the metrics of the local cloud are; nil if the service is not one.
	Metrics *Metrics
	// Operator reads what operators see; nil if the program has no credentials of the cloud.
	Operator Operator
	// Listen says where the service delivers events to; nil if it cannot reach this machine.
	Listen *Listen
}

// Info is what the page is told of its connection. It has no secrets.
type Info struct {
	// Version is that of the program.
	Version string `json:"version"`
	// APIURL is the address of the service.
	APIURL string `json:"api_url"`
	// Connection says for people what the connection was made from, such as "local cloud" or "profile NAME".
	Connection string `json:"connection"`
	// TenantID and ClientID are the tenant whose data are shown and the client that reads them.
	TenantID string `json:"tenant_id"`
	ClientID string `json:"client_id"`
	// TokenURL is the token endpoint.
	TokenURL string `json:"token_url"`
	// Flags are what a command line must have to do the same as the page.
	Flags Flags `json:"flags"`
	// IsOperator, Metrics and Listener mean that there are Config.Operator, Config.Metrics and Config.Listen. New sets
	// them.
	IsOperator bool `json:"is_operator"`
	Metrics    bool `json:"metrics"`
	Listener   bool `json:"listener"`
}

// Flags are words of a shell that go with the commands that the page shows. They have no secrets.
type Flags struct {
	// Service names the connection, for commands that call the service: --profile NAME, for example.
	Service string `json:"service"`
	// Cloud names the installation, for those that read its tables or its log.
	Cloud string `json:"cloud"`
}

// Server answers the requests of the page. It is safe for concurrent use.
type Server struct {
	config   Config
	guard    *guard
	sessions *sessions
	proxy    *httputil.ReverseProxy
	files    *Files
	reports  *reports
	// signed are where the page may store files of documents, and storage sends them there.
	signed  *signedUploads
	storage http.RoundTripper
	// mux has the console's own paths, below /console/.
	mux *http.ServeMux
	// metrics is nil if there are none.
	metrics *metricsReader
	// live is nil if the service cannot reach this machine.
	live *live
}

// New returns the server of a console.
func New(c Config) (*Server, error) {
	if c.Client == nil {
		return nil, errors.New("the console needs a client")
	}
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil {
		return nil, fmt.Errorf("the console's address: %w", err)
	}
	if c.Assets == nil {
		c.Assets = builtAssets()
	}
	s := &Server{config: c, sessions: newSessions(port), signed: &signedUploads{}, storage: http.DefaultTransport,
		mux: http.NewServeMux()}
	s.guard = &guard{hosts: hostsOf(host, port), sessions: s.sessions, isOtherUser: isOtherUser}
	if s.proxy, err = newProxy(c.Client, c.Info.Version, s.signed.observe); err != nil {
		return nil, err
	}
	info := &s.config.Info
	info.IsOperator, info.Metrics, info.Listener = c.Operator != nil, c.Metrics != nil, c.Listen != nil
	s.files = NewFiles(FilesConfig{Client: c.Client, Folder: c.Spool, Flags: c.Info.Flags.Service})
	s.files.Register(s.mux)
	s.reports = newReports(c.Client, s.files.newFile)
	s.register()
	return s, nil
}

// register adds the console's own paths.
func (s *Server) register() {
	s.mux.HandleFunc("GET /console/session", s.getSession)
	s.mux.HandleFunc("PUT /console/storage", s.store)
	s.mux.HandleFunc("GET /console/batches/{id}/errors", s.batchErrors)
	s.mux.HandleFunc("GET /console/batches/{id}/download/{kind}", s.download)
	s.mux.HandleFunc("/console/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, problem{Status: http.StatusNotFound, Detail: "The console has no such path."})
	})
	if s.config.Metrics != nil {
		s.metrics = &metricsReader{config: *s.config.Metrics}
		s.mux.HandleFunc("GET /console/metrics", s.getMetrics)
	} else {
		s.mux.HandleFunc("GET /console/metrics", refuseMetrics)
	}
	if s.config.Operator != nil {
		lists := &operatorLists{operator: s.config.Operator, now: time.Now, read: map[string]operatorList{}}
		lists.register(s.mux)
	} else {
		s.mux.HandleFunc("GET /console/operator/", refuseOperator)
	}
	if s.config.Listen != nil {
		s.live = newLive(s, *s.config.Listen)
		s.live.register(s.mux)
	} else {
		s.mux.HandleFunc("/console/listener", refuseListener)
		s.mux.HandleFunc("/console/events", refuseListener)
	}
}

// Close ends what the console does for the page, removes the dropped files, and returns the uploads and batches that it
// leaves behind. Requests are not answered any more.
func (s *Server) Close() ([]Unfinished, error) {
	s.reports.close()
	err := s.files.Close()
	if s.metrics != nil {
		err = errors.Join(err, s.metrics.close())
	}
	if s.live != nil {
		err = errors.Join(err, s.live.close())
	}
	return s.files.Unfinished(), err
}

// ServeHTTP answers a request if it is one of the console's own page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	path := r.URL.EscapedPath()
	if token, isOpening := strings.CutPrefix(path, "/open/"); isOpening {
		if p := s.guard.checkOrigin(r); p != nil {
			s.refuse(w, r, p)
			return
		}
		s.open(w, r, token)
		return
	}
	if p := s.guard.check(r); p != nil {
		s.refuse(w, r, p)
		return
	}
	switch {
	case strings.HasPrefix(path, "/api/"):
		s.passOn(w, r)
	case strings.HasPrefix(path, "/console/"):
		s.mux.ServeHTTP(w, r)
	default:
		s.servePage(w, r)
	}
}

// getSession tells the page what it shows.
func (s *Server) getSession(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.config.Info)
}

// setSecurityHeaders sets what every answer has. Nothing is stored unless a handler says otherwise.
func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// contentPolicy is what the page may load and do: nothing but what this server has. No script is inline.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
	"'self'; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// problem is an error as problem details (RFC 9457), with the members that the service's own have.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// ErrorCode tells the errors of the console apart, for the page; "" if the status says it all.
	ErrorCode string `json:"errorCode,omitempty"`
	// RequestID is that of the service's answer; "" if there is none. It is sent as the service sends it, in a header.
	RequestID string `json:"-"`
}

// writeProblem answers a request with an error.
func writeProblem(w http.ResponseWriter, p problem) {
	p.Type = "about:blank"
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	if p.RequestID != "" {
		w.Header().Set("X-Request-Id", p.RequestID)
	}
	writeBody(w, p.Status, p)
}

// writeJSON answers a request with a value.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	writeBody(w, status, v)
}

func writeBody(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the browser has gone, or gets a part
}
