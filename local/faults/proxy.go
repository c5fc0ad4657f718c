package faults

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// Process is a process of a function.
type Process interface {
	// FunctionName returns the name of the function.
	FunctionName() string
	// Payload returns the payload of the invocation that the process handles.
	Payload() []byte
	// Kill kills the process at once, and returns when it has ended. reason is for the log.
	Kill(reason string)
}

// Interpose starts the proxies of a process. It returns the variables that lead the process to them, by those that name
// the services' addresses, and a function that ends them.
func (in *Injector) Interpose(p Process, addresses map[string]string) (environment []string, stop func(), err error) {
	var servers []*http.Server
	stop = func() {
		for _, s := range servers {
			_ = s.Close()
		}
	}
	for variable, address := range addresses {
		target, err := url.Parse(address)
		if err != nil {
			stop()
			return nil, nil, err
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, err
		}
		server := &http.Server{Handler: in.proxy(p, target), ReadHeaderTimeout: 10 * time.Second}
		servers = append(servers, server)
		go func() { _ = server.Serve(listener) }() // returns ErrServerClosed
		environment = append(environment, variable+"=http://"+listener.Addr().String())
	}
	return environment, stop, nil
}

// transport connects all proxies to the services. It changes nothing of a request, which is signed.
var transport = &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256, DisableCompression: true}

// errKilled ends a call whose process was killed.
var errKilled = errors.New("the process was killed")

type fateKey struct{}

// proxy returns the handler through which a process calls a service.
func (in *Injector) proxy(p Process, target *url.URL) http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		Transport: transport,
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Context().Value(fateKey{}) != killedAfter {
				return nil
			}
			_, err := io.Copy(io.Discard, r.Body)
			p.Kill("after " + nameOf(r.Request))
			return errors.Join(errKilled, err)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, errKilled) {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		decided := in.decide(p.FunctionName(), p.Payload(), nameOf(r))
		if decided == killedBefore {
			p.Kill("before " + nameOf(r))
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), fateKey{}, decided)))
	})
}

// nameOf names a call: the operation of services that have it in a header, else the method and the beginning of the
// path.
func nameOf(r *http.Request) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, operation, _ := strings.Cut(target, ".")
		return operation
	}
	path := strings.Split(r.URL.Path, "/")
	return r.Method + " " + strings.Join(path[:min(len(path), 3)], "/")
}

// TargetPrefix begins the header X-Amz-Target of requests to ServeHTTP.
const TargetPrefix = "SluiceFaults."

// ServeHTTP serves Arm, which takes a Kill and answers with its number, and State, which takes a number and answers with
// a State. Both are JSON.
func (in *Injector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Kill
		Number int `json:"number"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&body)
	var reply any
	switch operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), TargetPrefix); {
	case err != nil:
	case operation == "Arm" && body.Function != "" && body.Call > 0:
		reply = map[string]int{"number": in.Arm(body.Kill)}
	case operation == "State":
		if state, ok := in.State(body.Number); ok {
			reply = state
		}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if reply == nil {
		w.WriteHeader(http.StatusBadRequest)
		reply = map[string]string{"__type": "ValidationException"}
	}
	_ = json.NewEncoder(w).Encode(reply)
}
