// Package storage serves S3 from a folder by means of versitygw. A wrapper around the gateway's backend adds what it
// lacks here: policies with conditions on tags, errors for truncated uploads, and notifications of new objects. A
// process can run one server only. The server changes the working directory to its folder, so that all other paths must
// be absolute.
package storage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"

	"sluice/local/iam"
	"sluice/local/template"
)

// Config describes a Server.
type Config struct {
	// Listener accepts the connections of clients. Start and Close close it; nil means that Start listens on Address.
	Listener net.Listener
	// Address is the host and port at which the server answers.
	Address string
	// Dir is an absolute path; each bucket is a folder in it.
	Dir string
	// SocketDir is the folder for a socket that only Start uses, which empties it; Close removes it. A temporary folder
	// is used if its path is "" or too long.
	SocketDir string
	Region    string
	// IAM decides who may do what.
	IAM *iam.Service
	// Buckets are created if they do not exist.
	Buckets []string
	// CORS are the rules of buckets by their names. A bucket without rules is closed to web pages of other origins.
	CORS map[string][]template.CORSRule
	// OnCreated is called for every new object before the client receives its response. If it returns an error, the
	// client receives an error.
	OnCreated func(CreatedObject) error
	Now       func() time.Time
	// Log receives what the gateway prints. The gateway prints to os.Stderr, which is this file while the server runs;
	// nil leaves it as it is.
	Log *os.File
}

// Server is a running S3 server.
type Server struct {
	front *front
	// stderr is what os.Stderr was before the start.
	stderr *os.File
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

// serverPath is where the gateway hands out its server. No bucket of the template has this name.
const serverPath = "/sluice-storage-server"

// ioBufferSize is the size in bytes of the buffer through which the server copies an object. It takes a new one for
// each read of a part of an object; with its default of 1 MiB, that is what most memory is allocated for.
const ioBufferSize = 64 << 10

// Start starts the server, waits until it answers and creates the buckets.
func Start(ctx context.Context, c Config) (*Server, error) {
	listener := c.Listener
	if listener == nil {
		var err error
		if listener, err = net.Listen("tcp", c.Address); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	files, err := posix.New(c.Dir, meta.XattrMeta{},
		posix.PosixOpts{NewDirPerm: 0o700, NewFilePerm: 0o600, CopyObjectThreshold: 5 << 30,
			IOBufferSize: ioBufferSize})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the folder %s cannot hold objects: %w", c.Dir, err), listener.Close())
	}
	sockets, err := newSocketDir(c.SocketDir)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	socket := filepath.Join(sockets, "gateway")
	root := c.IAM.OperatorKey()
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{
		front:  &front{listener: listener, open: map[net.Conn]bool{}},
		stderr: os.Stderr, cancel: cancel, ended: make(chan struct{}),
	}
	if c.Log != nil {
		os.Stderr = c.Log
	}
	servers := make(chan *fasthttp.Server, 1)
	go func() {
		defer close(s.ended)
		defer os.RemoveAll(sockets)
		s.err = embedgw.RunVersityGW(
			running,
			&backend{Backend: files, iam: c.IAM, cors: c.CORS, onCreated: c.OnCreated, now: c.Now},
			&embedgw.Config{
				RootUserAccess: root.ID, RootUserSecret: root.Secret, IAMService: accounts{c.IAM},
				Region: c.Region, Ports: []string{socket}, S3Options: []s3api.Option{handOut(servers)},
				MaxConnections: 4096, MaxRequests: 4096, MultipartMaxParts: 10_000,
				Quiet: true, KeepAlive: true, DisableACLs: true,
			},
		)
	}()
	server, err := s.waitForServer(ctx, socket, servers)
	if err == nil {
		go s.front.serve(server)
		err = makeBuckets(ctx, c)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// handOut has the gateway send its server to a channel when serverPath is requested. The gateway by itself serves only
// listeners that it opens; the front passes connections to the server, so that their bytes are not copied once more.
func handOut(servers chan<- *fasthttp.Server) s3api.Option {
	return s3api.WithRoute(http.MethodGet, serverPath, func(ctx fiber.Ctx) error {
		select {
		case servers <- ctx.App().Server():
		default: // it has been sent
		}
		return nil
	})
}

// newSocketDir makes the folder for the socket of the gateway. Paths of sockets are limited to about a hundred bytes.
func newSocketDir(dir string) (string, error) {
	const longest = 90
	if dir == "" || len(dir) > longest {
		return os.MkdirTemp("", "sluice-s3-")
	}
	return dir, errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700))
}

// Close ends the server. It waits at most two seconds for connected clients.
func (s *Server) Close() {
	s.front.stopAccepting()
	s.cancel()
	select {
	case <-s.ended:
	case <-time.After(2 * time.Second):
	}
	s.front.close()
	os.Stderr = s.stderr
}

// Ended returns a channel that is closed when the server has ended, whether by Close or by an error.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// waitForServer requests the gateway's server at its socket, as soon as that answers, which must be within a minute.
func (s *Server) waitForServer(ctx context.Context, socket string, servers <-chan *fasthttp.Server) (*fasthttp.Server,
	error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://gateway"+serverPath, nil)
		if err != nil {
			return nil, err
		}
		if resp, err := client.Do(r); err == nil {
			_ = resp.Body.Close()
			return <-servers, nil
		}
		select {
		case <-tick.C:
		case <-s.ended:
			return nil, fmt.Errorf("the storage server ended: %w", s.err)
		case <-ctx.Done():
			return nil, errors.New("the storage server does not answer")
		}
	}
}

// makeBuckets creates the buckets that do not exist yet.
func makeBuckets(ctx context.Context, c Config) error {
	client := s3.New(s3.Options{
		Region: c.Region, BaseEndpoint: aws.String("http://" + c.Address), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(c.IAM.OperatorKey().ID, c.IAM.OperatorKey().Secret, ""),
	})
	for _, name := range c.Buckets {
		in := &s3.CreateBucketInput{Bucket: &name}
		if c.Region != "us-east-1" {
			in.CreateBucketConfiguration = &types.CreateBucketConfiguration{
				LocationConstraint: types.BucketLocationConstraint(c.Region),
			}
		}
		_, err := client.CreateBucket(ctx, in)
		var owned *types.BucketAlreadyOwnedByYou
		var exists *types.BucketAlreadyExists
		if err != nil && !errors.As(err, &owned) && !errors.As(err, &exists) {
			return fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	return nil
}
