package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"
	"time"
)

// sessions are the browsers in which the console is open. A session begins with the address that the command prints,
// and ends with the command.
type sessions struct {
	// cookie is the name of the cookie. It has the port, because browsers send cookies to every port of a host.
	cookie string

	mu sync.Mutex
	// tokens are the digests of the tokens that begin a session and have not been used.
	tokens [][sha256.Size]byte
	// open are the digests of the values of cookies.
	open [][sha256.Size]byte
}

func newSessions(port string) *sessions { return &sessions{cookie: "sluice-console-" + port} }

// newToken returns a secret that begins one session.
func (s *sessions) newToken() string {
	token := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = append(s.tokens, sha256.Sum256([]byte(token)))
	return token
}

// begin begins a session with a token, which is then used up, and returns the value of its cookie. ok is false if it is
// not a token, or one that was used.
func (s *sessions) begin(token string) (value string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := indexOf(s.tokens, token)
	if i < 0 {
		return "", false
	}
	s.tokens = append(s.tokens[:i], s.tokens[i+1:]...)
	value = rand.Text()
	s.open = append(s.open, sha256.Sum256([]byte(value)))
	return value, true
}

// has reports whether a request belongs to a session. Programs at other ports of the host can add cookies of the same
// name, so one of them counts.
func (s *sessions) has(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range r.CookiesNamed(s.cookie) {
		if indexOf(s.open, c.Value) >= 0 {
			return true
		}
	}
	return false
}

// indexOf returns the index of the digest of a secret, -1 if there is none. How long it takes says nothing about them.
func indexOf(digests [][sha256.Size]byte, secret string) int {
	digest, found := sha256.Sum256([]byte(secret)), -1
	for i := range digests {
		if subtle.ConstantTimeCompare(digest[:], digests[i][:]) == 1 {
			found = i
		}
	}
	return found
}

// NewAddress returns an address that opens the console in one browser, once. Whoever has it can do what the client may,
// until it is opened.
func (s *Server) NewAddress() string {
	return "http://" + s.guard.hosts[0] + "/open/" + s.sessions.newToken()
}

// open begins a session and shows the page. In a browser that has one, it just shows the page.
func (s *Server) open(w http.ResponseWriter, r *http.Request, token string) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		s.refuse(w, r, &problem{Status: http.StatusMethodNotAllowed, Detail: "This address is for browsers."})
		return
	}
	if !s.sessions.has(r) {
		value, ok := s.sessions.begin(token)
		if !ok {
			s.refuse(w, r, &problem{Status: http.StatusUnauthorized, Title: "This address was opened before",
				Detail: "Each address opens the console in one browser, once. 'sluice console' prints a new one " +
					"when it is started.", ErrorCode: codeSession})
			return
		}
		http.SetCookie(w, &http.Cookie{Name: s.sessions.cookie, Value: value, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode})
	}
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// refuse answers a request that is not answered otherwise: a person with a page, a program with problem details.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	if isForPerson(r) {
		if p.Title == "" {
			p.Title = http.StatusText(p.Status)
		}
		text := p.Detail
		if p.RequestID != "" {
			text = strings.TrimSpace(text + " Request " + p.RequestID + ".")
		}
		writeNotice(w, p.Status, p.Title, text)
		return
	}
	writeProblem(w, *p)
}

// isForPerson reports whether a request is that of a page for a person, by what it accepts.
func isForPerson(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// writeNotice answers with a page that has nothing but a title and a paragraph.
func writeNotice(w http.ResponseWriter, status int, title, text string) {
	var page bytes.Buffer
	fmt.Fprintf(&page, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light "+
		"dark\">\n<title>%s - Sluice</title>\n<main>\n<h1>%[1]s</h1>\n<p>%s</p>\n</main>\n</html>\n",
		html.EscapeString(title), html.EscapeString(text))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the browser has gone, or gets a part
}

// Operator reads what only operators of the cloud may: each list as 'sluice admin' prints it. A list has no secrets.
type Operator interface {
	// Tenants returns all tenants.
	Tenants(ctx context.Context) (any, error)
	// Clients returns the clients of all tenants.
	Clients(ctx context.Context) (any, error)
	// Keys returns the keys that sign access tokens.
	Keys(ctx context.Context) (any, error)
	// ReceiptKeys returns the keys that sign receipts.
	ReceiptKeys(ctx context.Context) (any, error)
}

// operatorPause is how long a list is shown before it is read again. Each reading is recorded in the audit trail.
const operatorPause = time.Minute

// operatorLists answers requests for lists of the operator.
type operatorLists struct {
	operator Operator
	now      func() time.Time

	mu sync.Mutex
	// read are the lists by their names.
	read map[string]operatorList
}

// operatorList is an answer and when it was read.
type operatorList struct {
	at    time.Time
	value any
}

// register adds the paths of the lists.
func (o *operatorLists) register(mux *http.ServeMux) {
	for name, read := range map[string]func(context.Context) (any, error){
		"tenants": func(ctx context.Context) (any, error) { return listed(ctx, "tenants", o.operator.Tenants) },
		"clients": func(ctx context.Context) (any, error) { return listed(ctx, "clients", o.operator.Clients) },
		"keys": func(ctx context.Context) (any, error) {
			tokens, err := o.operator.Keys(ctx)
			if err != nil {
				return nil, err
			}
			receipts, err := o.operator.ReceiptKeys(ctx)
			return map[string]any{"access_tokens": tokens, "receipts": receipts}, err
		},
	} {
		mux.HandleFunc("GET /console/operator/"+name, func(w http.ResponseWriter, r *http.Request) {
			value, err := o.get(r.Context(), name, read)
			if err == nil {
				writeJSON(w, http.StatusOK, value)
			} else if r.Context().Err() == nil {
				writeProblem(w, problem{Status: http.StatusBadGateway, Title: "The cloud refuses the request",
					Detail: err.Error(), ErrorCode: "operator_failed"})
			}
		})
	}
}

// listed returns a list as the only member of an object.
func listed(ctx context.Context, name string, read func(context.Context) (any, error)) (any, error) {
	value, err := read(ctx)
	return map[string]any{name: value}, err
}

// get returns a list that is at most operatorPause old. One list is read at a time.
func (o *operatorLists) get(ctx context.Context, name string, read func(context.Context) (any, error)) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, ok := o.read[name]; ok && o.now().Sub(last.at) < operatorPause {
		return last.value, nil
	}
	value, err := read(ctx)
	if err != nil {
		return nil, err
	}
	o.read[name] = operatorList{o.now(), value}
	return value, nil
}

// refuseOperator answers where the command has no credentials of the cloud.
func refuseOperator(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, problem{Status: http.StatusForbidden, Title: "This is for operators of the cloud",
		Detail:    "Start the console with --operator, with credentials of the cloud, to see it.",
		ErrorCode: "not_operator"})
}
