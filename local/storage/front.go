package storage

import (
	"context"
	"encoding/xml"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/versity/versitygw/auth"
	versity "github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3err"
)

// front accepts the connections of clients and has the gateway's server answer them. It makes sure that a client
// receives the reply to a request that is refused early: the server closes the connection without having read the rest
// of the request, and the system then resets it, so that a client which is still sending may never see the reply. The
// front instead closes only its sending half, and reads and discards what the client still sends.
type front struct {
	listener net.Listener

	mu sync.Mutex
	// open holds the connections of clients.
	open   map[net.Conn]bool
	closed bool
}

// Limits of the time for which the front discards what a client sends after its reply.
const (
	lingerIdle = 5 * time.Second
	lingerAll  = 10 * time.Minute
)

// serve accepts connections until the listener is closed.
func (f *front) serve(server *fasthttp.Server) {
	for {
		client, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, or a client that has left
			time.Sleep(10 * time.Millisecond)
			continue
		}
		go f.answer(server, client.(*net.TCPConn))
	}
}

// answer answers the requests of one connection.
func (f *front) answer(server *fasthttp.Server, client *net.TCPConn) {
	defer f.forget(client)
	if !f.remember(client) {
		return
	}
	_ = server.ServeConn(halfClosing{client}) // fails if the client has left
	linger(client)
}

// halfClosing is a connection of which the server closes only the sending half.
type halfClosing struct{ *net.TCPConn }

// Close ends sending, and receiving soon after if the client sends nothing: the server closes idle connections.
func (c halfClosing) Close() error {
	return errors.Join(c.CloseWrite(), c.SetReadDeadline(time.Now().Add(lingerIdle)))
}

// linger reads and discards what a client still sends, until the client closes the connection or falls silent.
func linger(client *net.TCPConn) {
	buffer := make([]byte, 64<<10)
	for end := time.Now().Add(lingerAll); time.Now().Before(end); {
		if client.SetReadDeadline(time.Now().Add(lingerIdle)) != nil {
			return
		}
		if _, err := client.Read(buffer); err != nil {
			return
		}
	}
}

// remember notes a connection, and reports false if the front is closed.
func (f *front) remember(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.open[c] = true
	}
	return !f.closed
}

// forget closes a connection.
func (f *front) forget(c net.Conn) {
	f.mu.Lock()
	delete(f.open, c)
	f.mu.Unlock()
	_ = c.Close()
}

// stopAccepting lets the connections that are open go on.
func (f *front) stopAccepting() { _ = f.listener.Close() }

// close closes everything.
func (f *front) close() {
	f.stopAccepting()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for c := range f.open {
		_ = c.Close()
	}
}

// GetBucketCors returns the CORS rules that the template gives a bucket. The gateway asks for them at each request of a
// web page of another origin, and acts on them.
func (b *backend) GetBucketCors(_ context.Context, bucket string) ([]byte, error) {
	var all auth.CORSConfiguration
	for _, r := range b.cors[bucket] {
		rule := auth.CORSRule{
			AllowedOrigins: convert[auth.CORSOrigin](r.Origins),
			AllowedMethods: convert[auth.CORSHTTPMethod](r.Methods),
			AllowedHeaders: convert[auth.CORSHeader](r.Headers), ExposeHeaders: convert[auth.CORSHeader](r.Exposed),
		}
		if r.ID != "" {
			rule.ID = &r.ID
		}
		if r.MaxAge != 0 {
			seconds := int32(min(r.MaxAge, 1<<30))
			rule.MaxAgeSeconds = &seconds
		}
		all.Rules = append(all.Rules, rule)
	}
	if len(all.Rules) == 0 {
		return nil, s3err.GetBucketErr(s3err.ErrNoSuchCORSConfiguration, bucket)
	}
	return xml.Marshal(all)
}

// PutBucketCors is not supported: the rules are those of the template.
func (b *backend) PutBucketCors(ctx context.Context, bucket string, rules []byte) error {
	return versity.BackendUnsupported{}.PutBucketCors(ctx, bucket, rules)
}

// DeleteBucketCors is not supported, as PutBucketCors.
func (b *backend) DeleteBucketCors(ctx context.Context, bucket string) error {
	return versity.BackendUnsupported{}.DeleteBucketCors(ctx, bucket)
}

// convert returns texts as those of a type of the gateway.
func convert[T ~string](texts []string) []T {
	var out []T
	for _, t := range texts {
		out = append(out, T(t))
	}
	return out
}
