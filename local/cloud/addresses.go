package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"sluice/local/endpoint"
	"sluice/local/gateway"
)

// takeAddresses decides about the addresses: those asked for, or else those of the last time, so that tokens and signed URLs
// live on, or else any that are free.
func (c *Cloud) takeAddresses(context.Context) error {
	for _, a := range []struct {
		what string
		port int
		host string
		url  *string
	}{
		{"the API", c.options.Ports.API, c.options.Host, &c.self.APIURL},
		{"S3", c.options.Ports.S3, c.options.Host, &c.self.S3URL},
		{"the AWS endpoint", c.options.Ports.AWS, c.options.Host, &c.self.AWSEndpointURL},
		// The DynamoDB server asks for no signature: it is nobody's business but ours.
		{"DynamoDB", c.options.Ports.DynamoDB, "127.0.0.1", &c.self.DynamoDBURL},
	} {
		held, err := choose(a.host, a.port, *a.url)
		if err != nil {
			return fmt.Errorf("%s cannot listen: %w", a.what, err)
		}
		defer held.Close() // not before all are chosen, or two might get the same
		*a.url = "http://" + net.JoinHostPort(reached(a.host), strconv.Itoa(held.Addr().(*net.TCPAddr).Port))
	}
	c.self.TokenURL = c.self.APIURL + "/oauth2/token"
	return nil
}

// reached is the host by which this machine reaches an address that it listens on.
func reached(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return host
}

// choose listens on the wanted port, or the one of the last URL, or any.
func choose(host string, wanted int, last string) (net.Listener, error) {
	if wanted != 0 {
		return listen(host, wanted)
	}
	if u, err := url.Parse(last); err == nil && u.Port() != "" {
		if port, err := strconv.Atoi(u.Port()); err == nil {
			if l, err := listen(host, port); err == nil {
				return l, nil
			}
		}
	}
	return listen(host, 0)
}

func listen(host string, port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is in use", port)
	}
	return l, err
}

// address is the host and port of a URL.
func address(of string) string {
	u, err := url.Parse(of)
	if err != nil {
		return "" // it was made by takeAddresses
	}
	return u.Host
}

// listenOn is the address to listen on for a URL that clients use.
func (c *Cloud) listenOn(of string) string {
	_, port, _ := net.SplitHostPort(address(of))
	return net.JoinHostPort(c.options.Host, port)
}

// listen takes the ports of the API and the AWS endpoint. Whoever calls from now on waits until serve.
func (c *Cloud) listen(context.Context) error {
	for _, url := range []string{c.self.APIURL, c.self.AWSEndpointURL} {
		l, err := net.Listen("tcp", c.listenOn(url))
		if err != nil {
			return fmt.Errorf("cannot listen on %s: %w", c.listenOn(url), err)
		}
		c.listeners = append(c.listeners, l)
	}
	return nil
}

// serve answers at the API and the AWS endpoint.
func (c *Cloud) serve(context.Context) error {
	names := map[string]string{}
	for _, f := range c.template.Functions {
		names[f.ID] = f.Name
	}
	services, err := c.services()
	if err != nil {
		return err
	}
	for i, handler := range []http.Handler{
		gateway.New(gateway.Config{API: c.template.API, Names: names, Functions: c.lambda, Region: region, Account: account,
			NewID: newID, Now: time.Now}),
		endpoint.New(services),
	} {
		listener, server := c.listeners[i], &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		c.servers = append(c.servers, server)
		go func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				select {
				case c.failed <- fmt.Errorf("%s has ended: %w", listener.Addr(), err):
				default:
				}
			}
		}()
	}
	return nil
}
