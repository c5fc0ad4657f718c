package browsertest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"sluice/shared/kit/errtest"
)

// gate is a proxy between a tenant's console and the service and can be closed.
type gate struct {
	testing.TB
	// address is where it listens, and service where the service does.
	address, service string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	// isClosed says that nobody gets through. endings counts how often all connections were ended; one that was just
	// being made then ends, too.
	isClosed bool
	endings  int
	// held is closed when callers are let through that wait; nil if none has to.
	held chan struct{}
}

// withGate puts a gate between the service and what the tenant starts from now on.
func (n *tenant) withGate() *gate {
	n.Helper()
	service := errtest.Must(url.Parse(suite.cloud.APIURL))(n)
	g := &gate{TB: n.TB, address: "127.0.0.1:0", service: service.Host, open: map[net.Conn]bool{}}
	g.letThrough()
	n.apiURL = strings.Replace(suite.cloud.APIURL, service.Host, g.address, 1)
	n.tokenURL = strings.Replace(suite.cloud.TokenURL, service.Host, g.address, 1)
	n.Cleanup(g.cutOff)
	return g
}

// letThrough opens the gate, at the address that it had before.
func (g *gate) letThrough() {
	g.Helper()
	listener := errtest.Must(net.Listen("tcp", g.address))(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.address, g.listener, g.isClosed = listener.Addr().String(), listener, false
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // it was closed
			}
			go g.pass(conn)
		}
	}()
}

// holdBack ends every connection and has the callers wait that come from now on, as with a service that takes long to
// answer. It returns what lets them through.
func (g *gate) holdBack() (letGo func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	held := make(chan struct{})
	g.held = held
	g.endConnections()
	letGo = sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.held = nil
		close(held)
	})
	g.Cleanup(letGo)
	return letGo
}

// pass connects a caller with the service until one of them has enough.
func (g *gate) pass(caller net.Conn) {
	defer caller.Close()
	g.mu.Lock()
	held, isClosed, endings := g.held, g.isClosed, g.endings
	g.mu.Unlock()
	if isClosed {
		return
	}
	if held != nil {
		<-held
	}
	service, err := net.Dial("tcp", g.service)
	if err != nil {
		return // the caller sees that there is no service
	}
	defer service.Close()
	if !g.add(endings, caller, service) {
		return
	}
	go func() { _, _ = io.Copy(service, caller); _ = service.Close() }() // the other side sees the end, whatever it was
	_, _ = io.Copy(caller, service)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, caller)
	delete(g.open, service)
}

// add adds open connections, unless all were ended since there were so many endings.
func (g *gate) add(endings int, connections ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.endings != endings {
		return false
	}
	for _, conn := range connections {
		g.open[conn] = true
	}
	return true
}

// cutOff closes the gate and every connection through it.
func (g *gate) cutOff() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		g.Error(err)
	}
	g.isClosed = true
	g.endConnections()
}

// endConnections ends every connection through the gate. The caller holds the lock.
func (g *gate) endConnections() {
	g.endings++
	for conn := range g.open {
		_ = conn.Close() // it may have ended
	}
}
