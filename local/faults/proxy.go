package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
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

// errKilled ends a call whose process was killed, errStruck one whose answer is dropped.
var (
	errKilled = errors.New("the process was killed")
	errStruck = errors.New("an injected fault")
)

// fateKey and strikeKey are the keys of contexts under which requests carry what happens to them.
type (
	fateKey   struct{}
	strikeKey struct{}
)

// proxy returns the handler through which a process calls a service.
func (in *Injector) proxy(p Process, target *url.URL) http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		Transport: transport,
		ModifyResponse: func(r *http.Response) error {
			s, _ := r.Request.Context().Value(strikeKey{}).(*strike)
			switch {
			case r.Request.Context().Value(fateKey{}) == killedAfter:
				_, err := io.Copy(io.Discard, r.Body)
				p.Kill("after " + nameOf(r.Request))
				return errors.Join(errKilled, err)
			case s != nil && s.Kind == Drop:
				_, err := io.Copy(io.Discard, r.Body)
				return errors.Join(errStruck, err)
			case s != nil && s.Kind == Cut:
				return cutShort(r)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			switch {
			case errors.Is(err, errKilled):
				panic(http.ErrAbortHandler)
			case errors.Is(err, errStruck):
				reset(w)
			default:
				w.WriteHeader(http.StatusBadGateway)
			}
		},
		FlushInterval: -1, // so that the first half of an answer that is cut arrives
		// The proxy would log each answer that is cut.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, payload := nameOf(r), p.Payload()
		decided := in.decide(p.FunctionName(), payload, name)
		var s *strike
		if decided == passes {
			decided, s = in.strikeProxied(w, r, p, payload, name)
		}
		if decided == killedBefore {
			p.Kill("before " + name)
			panic(http.ErrAbortHandler)
		}
		if decided == answered {
			return
		}
		// Else the server closes the body of the request when the answer begins. If the end of the body was not seen by
		// then, the connection to the service is closed in the middle of the answer.
		_ = http.NewResponseController(w).EnableFullDuplex() // which HTTP/1 supports
		ctx := context.WithValue(context.WithValue(r.Context(), fateKey{}, decided), strikeKey{}, s)
		forward.ServeHTTP(w, r.WithContext(ctx))
	})
}

// maxScheduledCall is how many bytes of a call of a schedule's invocation are searched for what it concerns.
const maxScheduledCall = 1 << 20

// strikeProxied does what a plan has for a call, or returns what is to be done with it.
func (in *Injector) strikeProxied(w http.ResponseWriter, r *http.Request, p Process, payload []byte, name string) (fate,
	*strike) {
	text := r.URL.Path
	if isScheduled(payload) && r.ContentLength > 0 && r.ContentLength < maxScheduledCall {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the process has ended
		}
		text += string(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	s, match := in.strike(p.FunctionName(), payload, text, name)
	if s == nil {
		return passes, nil
	}
	switch s.Kind {
	case KillBefore:
		return killedBefore, nil
	case KillAfter:
		return killedAfter, nil
	case Throttle, Error:
		refuse(w, r, s)
		return answered, nil
	case Reset:
		reset(w)
		return answered, nil
	case Delay:
		sleep(r, s.pause)
	case Stop:
		in.stop(match)
	}
	return passes, s
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

// ServeHTTP serves Arm, which takes a Kill and answers with its number, State, which takes a number and answers with
// a State, Follow, which takes plans and answers with their number, and Forget, which takes the seed and the name of
// one. All are JSON.
func (in *Injector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Kill
		Number int    `json:"number"`
		Plans  []Plan `json:"plans"`
		Seed   uint64 `json:"seed"`
		Name   string `json:"name"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&body)
	var reply any
	switch operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), TargetPrefix); {
	case err != nil:
	case operation == "Arm" && body.Function != "" && body.Call > 0:
		reply = map[string]int{"number": in.Arm(body.Kill)}
	case operation == "State":
		if state, ok := in.State(body.Number); ok {
			reply = state
		}
	case operation == "Follow" && len(body.Plans) > 0:
		for _, p := range body.Plans {
			err = errors.Join(err, in.Follow(p))
		}
		if err == nil {
			reply = map[string]int{"number": len(body.Plans)}
		}
	case operation == "Forget" && body.Name != "":
		in.Forget(body.Seed, body.Name)
		reply = map[string]int{"number": 1}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if reply == nil {
		w.WriteHeader(http.StatusBadRequest)
		reply = map[string]string{"__type": "ValidationException"}
	}
	_ = json.NewEncoder(w).Encode(reply)
}
