package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// newReceiver starts a receiver that a client calls without a configuration.
func newReceiver(t *testing.T, handler http.HandlerFunc) (*outbound.Client, *outboundtest.Server) {
	t.Helper()
	root := outboundtest.NewRoot(t, "root")
	server := outboundtest.NewServer(t, root.Issue(outboundtest.Leaf{}), handler)
	client := newClient(t)
	client.PublicCAs = outboundtest.Pool(root)
	return client, server
}

// Every status is a reply, and no redirect is followed.
func TestStatuses(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	client, server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Location", "https://"+r.Host+"/200")
		w.WriteHeader(status)
	})
	for n, status := range []int{200, 204, 301, 302, 303, 307, 308, 400, 401, 404, 410, 429, 500, 503} {
		reply, err := client.Do(t.Context(), tenant, newRequest(t, fmt.Sprintf("%s/%d", server.URL, status), "{}"))
		if err != nil || reply.Status != status {
			t.Errorf("%d: got %+v, %v", status, reply, err)
		}
		difftest.Equal(t, fmt.Sprintf("times that after the status %d the receiver was called", status), n+1,
			int(calls.Load()))
	}
}

// The request arrives as it is, with the headers of the configuration; those of the connection are not the
// configuration's business.
func TestRequest(t *testing.T) {
	t.Parallel()
	type received struct {
		header http.Header
		body   string
		host   string
	}
	got := make(chan received, 1)
	client, server := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Header, string(body), r.Host}
	})
	client.Configurations = configurations{{ID: "c", URL: server.URL, Headers: []externalauth.NameValue{
		{Name: "x-api-key", Value: "secret"}, {Name: "X-Two", Value: "1"}, {Name: "x-two", Value: "2"},
		{Name: "Content-Type", Value: "text/plain"}, {Name: "host", Value: "elsewhere.test"},
		{Name: "transfer-encoding", Value: "chunked"}, {Name: "Content-Length", Value: "1"},
	}}}
	request := newRequest(t, server.URL+"/path?q=1", `{"a":1}`)
	request.Header.Set("Content-Type", "application/json")
	errtest.Fatal(t, errtest.Of(client.Do(t.Context(), tenant, request)))
	r := <-got
	want := map[string]string{"X-Api-Key": "secret", "X-Two": "1,2", "Content-Type": "application/json",
		"User-Agent": "Sluice", "Content-Length": "7", "Accept-Encoding": "", "Authorization": ""}
	for name, value := range want {
		difftest.Equal(t, "the header "+name, value, strings.Join(r.header.Values(name), ","))
	}
	if r.body != `{"a":1}` || !strings.HasPrefix(r.host, outboundtest.ReceiverHost) {
		t.Errorf("got the body %q and the host %q", r.body, r.host)
	}
	difftest.Equal(t, "the caller's request has been changed", "", request.Header.Get("X-Api-Key"))
}

// Another tenant's configuration does not serve the call.
func TestOtherTenant(t *testing.T) {
	t.Parallel()
	client, server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		difftest.Equal(t, "the header of another tenant was sent", "", r.Header.Get("X-Api-Key"))
	})
	client.Configurations = configurations{{ID: "c", URL: server.URL, Headers: []externalauth.NameValue{
		{Name: "x-api-key", Value: "secret"}}}}
	errtest.Fatal(t, errtest.Of(client.Do(t.Context(), "other", newRequest(t, server.URL, ""))))
}

// A reply of a gigabyte is cut: its beginning is returned, and the connection ends.
func TestLargeReply(t *testing.T) {
	t.Parallel()
	sent := make(chan int64, 1)
	client, server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.CopyN(w, zeroes{}, 1<<30)
		sent <- n
	})
	client.MaxReplyBytes = 1000
	reply, err := client.Do(t.Context(), tenant, newRequest(t, server.URL, ""))
	if err != nil || len(reply.Body) != 1000 || !reply.IsTruncated || reply.Status != 200 {
		t.Fatalf("got %v and %d bytes, truncated %v", err, len(reply.Body), reply.IsTruncated)
	}
	if n := <-sent; n > 64<<20 {
		t.Errorf("the receiver could send %d bytes", n)
	}
}

// zeroes is a reader without an end.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A reply of exactly the limit is whole; a small one that would unpack to much more stays packed.
func TestReplyAtTheLimit(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = io.CopyN(zip, zeroes{}, 1<<20)
	zip.Close()
	client, server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
			return
		}
		_, _ = w.Write(make([]byte, 1000))
	})
	client.MaxReplyBytes = 1000
	reply, err := client.Do(t.Context(), tenant, newRequest(t, server.URL, ""))
	if err != nil || len(reply.Body) != 1000 || reply.IsTruncated {
		t.Errorf("got %v, %+v", err, reply)
	}
	client.MaxReplyBytes = 10_000
	reply, err = client.Do(t.Context(), tenant, newRequest(t, server.URL+"/gzip", ""))
	if err != nil || !bytes.Equal(reply.Body, packed.Bytes()) {
		t.Errorf("got %v and %d bytes, want the %d as sent", err, len(reply.Body), packed.Len())
	}
}

// raw answers each request with bytes as they are, and ends the connection, by a reset if asked for.
func raw(answer string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, answer)
		if tcp, ok := conn.(interface{ NetConn() net.Conn }); ok && reset {
			_ = tcp.NetConn().(*net.TCPConn).SetLinger(0)
			_ = tcp.NetConn().Close()
			return
		}
		conn.Close()
	}
}

// Every fault of a reply has a named outcome, and the text of the reply is not in the error.
func TestBadReplies(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\n"
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		want    outbound.Reason
	}{
		{"ends without a reply", raw("", false), outbound.ConnectionFailed},
		{"resets", raw("", true), outbound.ConnectionFailed},
		{"ends within the headers", raw(head+"X: leak", false), outbound.ConnectionFailed},
		{"ends within the body", raw(head+"Content-Length: 10\r\n\r\nleak", false), outbound.ConnectionFailed},
		{"resets within the body", raw(head+"Content-Length: 10\r\n\r\nleak", true), outbound.ConnectionFailed},
		{"is not HTTP", raw("leak leak leak\r\n\r\n", false), outbound.ReplyUnreadable},
		{"bad status", raw("HTTP/1.1 leak OK\r\n\r\n", false), outbound.ReplyUnreadable},
		{"bad length", raw(head+"Content-Length: leak\r\n\r\n", false), outbound.ReplyUnreadable},
		{"headers too large", raw(head+"X: "+strings.Repeat("leak", 20_000)+"\r\n\r\n", false),
			outbound.ReplyUnreadable},
		{"too many headers", raw(head+strings.Repeat("X: leak\r\n", 20_000)+"\r\n", false), outbound.ReplyUnreadable},
		{"bad chunk", raw(head+"Transfer-Encoding: chunked\r\n\r\nleak\r\n", false), outbound.ReplyUnreadable},
		{"endless interim replies", raw(strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: leak\r\n\r\n", 20_000), false),
			outbound.ReplyUnreadable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client, server := newReceiver(t, test.handler)
			_, err := client.Do(t.Context(), tenant, newRequest(t, server.URL, "{}"))
			wantReason(t, err, test.want)
			if err != nil && strings.Contains(err.Error(), "leak") {
				t.Errorf("the error quotes the receiver: %v", err)
			}
		})
	}
}

// A port that speaks no TLS, and one where nothing listens.
func TestNoTLS(t *testing.T) {
	t.Parallel()
	listener := errtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	url := "https://" + net.JoinHostPort(outboundtest.ReceiverHost, port)
	wantCall(t, newClient(t), url, outbound.TLSFailed)
	// Nothing listens at the near end of a connection, and nobody else can while it is open.
	conn := errtest.Must(net.Dial("tcp", listener.Addr().String()))(t)
	defer conn.Close()
	_, port, _ = net.SplitHostPort(conn.LocalAddr().String())
	url = "https://" + net.JoinHostPort(outboundtest.ReceiverHost, port)
	wantCall(t, newClient(t), url, outbound.ConnectionFailed)
}

// A receiver that hangs is given up, wherever it hangs: before TLS, before its reply, within it.
func TestHangingReceivers(t *testing.T) {
	t.Parallel()
	hang := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of the connection only after that
		if r.URL.Path == "/body" {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "begin")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // an answer could still reach the client while it closes the connection
	}
	for _, path := range []string{"/reply", "/body"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			client, server := newReceiver(t, hang)
			client.Timeout = 50 * time.Millisecond
			wantCall(t, client, server.URL+path, outbound.TimedOut)
		})
	}
	t.Run("TLS", func(t *testing.T) {
		t.Parallel()
		listener := errtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer listener.Close()
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		client := newClient(t)
		client.Timeout = 50 * time.Millisecond
		wantCall(t, client, "https://"+net.JoinHostPort(outboundtest.ReceiverHost, port), outbound.TimedOut)
	})
}

// A look-up that does not end is given up after ten seconds, unless the caller gives up before.
func TestHangingLookUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t)
		client.Resolver, client.Timeout = hangingResolver{}, 0
		start := time.Now()
		wantCall(t, client, "https://receiver.test/", outbound.TimedOut)
		difftest.Equal(t, "waited", outbound.DefaultTimeout, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.Do(ctx, tenant, newRequest(t, "https://receiver.test/",
			"")); err != context.DeadlineExceeded {
			t.Errorf("got the error %v, want that of the caller's context", err)
		}
		time.Sleep(outbound.DefaultTimeout) // virtual: the connection that was begun ends, too
	})
}

// hangingResolver never answers.
type hangingResolver struct{ outbound.Resolver }

func (hangingResolver) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A connection that the receiver has ended while it was idle is replaced: the call is not lost.
func TestEndedIdleConnection(t *testing.T) {
	t.Parallel()
	client, server := newReceiver(t, okHandler)
	for range 3 {
		wantCall(t, client, server.URL, "")
		server.CloseConnections()
	}
}
