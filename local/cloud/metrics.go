package cloud

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"sluice/internal/figures"
)

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
