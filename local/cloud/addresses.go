package cloud

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice/internal/figures"
	"sluice/local/endpoint"
	"sluice/local/gateway"
)

// chooseAddresses listens on the requested ports, else on those of the last run, so that tokens and signed URLs remain
// valid, else on any free ones. A port that is listened on from here until its service answers is nobody else's.
// Requests wait until then.
func (c *Cloud) chooseAddresses(context.Context) error {
	for _, a := range []struct {
		service  string
		port     int
		host     string
		url      *string
		listener *net.Listener
	}{
		{"the API", c.options.Ports.API, c.options.Host, &c.descriptor.APIURL, &c.listeners.api},
		{"S3", c.options.Ports.S3, c.options.Host, &c.descriptor.S3URL, &c.listeners.s3},
		{"the AWS endpoint", c.options.Ports.AWS, c.options.Host, &c.descriptor.AWSEndpointURL, &c.listeners.aws},
		{"DynamoDB", c.options.Ports.DynamoDB, "127.0.0.1", &c.descriptor.DynamoDBURL, &c.listeners.dynamoDB},
	} {
		listener, err := chooseListener(a.host, a.port, *a.url)
		if err != nil {
			return fmt.Errorf("%s cannot listen: %w", a.service, err)
		}
		*a.listener = listener
		*a.url = "http://" + net.JoinHostPort(reachableHost(a.host), strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	}
	c.descriptor.TokenURL = c.descriptor.APIURL + "/oauth2/token"
	return nil
}

// reachableHost returns the host under which this machine can reach an address that it listens on.
func reachableHost(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return host
}

// chooseListener listens on the requested port, else on that of the last URL, else on any.
func chooseListener(host string, requested int, lastURL string) (net.Listener, error) {
	if requested != 0 {
		return listen(host, requested)
	}
	if u, err := url.Parse(lastURL); err == nil && u.Port() != "" {
		if port, err := strconv.Atoi(u.Port()); err == nil {
			if l, err := listen(host, port); err == nil {
				return l, nil
			}
		}
	}
	return listen(host, 0)
}

// listen returns an error that names the port if it is in use.
func listen(host string, port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is in use", port)
	}
	return l, err
}

// hostPort returns the host and port of a URL.
func hostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // cannot happen: the URL comes from chooseAddresses
	}
	return u.Host
}

// listenAddress returns the host and port on which to listen for a URL that clients use.
func (c *Cloud) listenAddress(clientURL string) string {
	_, port, _ := net.SplitHostPort(hostPort(clientURL))
	return net.JoinHostPort(c.options.Host, port)
}

// databaseHost returns the host for the DynamoDB server, which answers everyone: it verifies no signature, and lets web
// pages read its answers. So it listens where nobody expects it, on Linux at one of 16 million addresses of the
// loopback interface, differently at each start.
func databaseHost() string {
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("127.%d.%d.%d", rand.IntN(256), rand.IntN(256), 1+rand.IntN(254))
	}
	return "127.0.0.1"
}

// hosts returns the names of this machine, by which containers, too, may reach the API.
func (c *Cloud) hosts() []string {
	names := []string{c.options.Host, containerHost}
	if name, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		names = append(names, name, short)
	}
	return names
}

// serve begins to answer requests to the API and the AWS endpoint.
func (c *Cloud) serve(context.Context) error {
	names := map[string]string{}
	for _, f := range c.template.Functions {
		names[f.ID] = f.Name
	}
	aws := endpoint.New(c.endpointServices())
	for listener, handler := range map[net.Listener]http.Handler{
		c.listeners.api: gateway.New(gateway.Config{
			API: c.template.API, Names: names, Functions: c.lambda, Region: region, Account: account, NewID: newID,
			Now: time.Now, Throttles: c.options.Limits.API, Hosts: c.hosts(),
		}),
		c.listeners.aws:      aws,
		c.listeners.dynamoDB: aws, // only who has keys of the cloud gets through to the server
	} {
		c.serveHTTP(listener, handler)
	}
	return nil
}

// serveHTTP begins to answer requests at an address.
func (c *Cloud) serveHTTP(listener net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	c.servers = append(c.servers, server)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			select {
			case c.failed <- fmt.Errorf("the server at %s has ended: %w", listener.Addr(), err):
			default:
			}
		}
	}()
}

// startMetrics begins to serve, at the address of Options.Metrics, figures of what functions have logged and will log,
// for Prometheus. It is called before functions start.
func (c *Cloud) startMetrics(context.Context) error {
	if c.options.Metrics == "" {
		return nil
	}
	listener, err := net.Listen("tcp", c.options.Metrics)
	if err != nil {
		return fmt.Errorf("metrics cannot be served: %w", err)
	}
	c.listeners.metrics = listener
	f := figures.New(figures.Options{Prefix: c.descriptor.Prefix})
	log, err := os.Open(c.path("logs", "functions.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	if _, err := f.Read(log); err != nil {
		return err
	}
	c.log.figures = f
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", f.Handler(time.Now))
	c.serveHTTP(listener, routes)
	return nil
}
