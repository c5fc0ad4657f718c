// Package storage is S3: versitygw on a folder, with what it lacks for our purpose wrapped around its backend. Only one can run
// in a process, and it changes the working directory to its folder: every other path must be absolute.
package storage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"sluice/local/iam"
)

// Config is what a Server needs.
type Config struct {
	Address string // host:port to listen on
	Dir     string // absolute; a folder for each bucket
	Region  string
	IAM     *iam.Service
	Buckets []string            // made when missing
	Created func(Created) error // told of every new object, before its client hears of it
	Now     func() time.Time
}

// Server is a running S3.
type Server struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

const health = "/sluice-storage-health" // no bucket of ours has this name

// Start starts S3, makes the buckets and returns once it answers.
func Start(ctx context.Context, c Config) (*Server, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	files, err := posix.New(c.Dir, meta.XattrMeta{}, posix.PosixOpts{NewDirPerm: 0o700, NewFilePerm: 0o600, CopyObjectThreshold: 5 << 30})
	if err != nil {
		return nil, fmt.Errorf("the folder %s cannot hold objects: %w", c.Dir, err)
	}
	// The gateway would find out only later, and print it.
	probe, err := net.Listen("tcp", c.Address)
	if err != nil {
		return nil, err
	}
	if err := probe.Close(); err != nil {
		return nil, err
	}
	root := c.IAM.Operator()
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = embedgw.RunVersityGW(running, &backend{Backend: files, iam: c.IAM, created: c.Created, now: c.Now}, &embedgw.Config{
			RootUserAccess: root.ID, RootUserSecret: root.Secret, IAMService: accounts{c.IAM},
			Region: c.Region, Ports: []string{c.Address}, HealthPath: health,
			MaxConnections: 4096, MaxRequests: 4096, MultipartMaxParts: 10_000,
			Quiet: true, KeepAlive: true, DisableACLs: true,
		})
	}()
	if err := s.ready(ctx, c); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the server. It waits for clients that are connected, but not long.
func (s *Server) Close() {
	s.cancel()
	select {
	case <-s.ended:
	case <-time.After(2 * time.Second):
	}
}

// Ended is closed when the server has ended, asked or not.
func (s *Server) Ended() <-chan struct{} { return s.ended }

func (s *Server) ready(ctx context.Context, c Config) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.Address+health, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(r); err == nil {
			_ = resp.Body.Close()
			return makeBuckets(ctx, c)
		}
		select {
		case <-tick.C:
		case <-s.ended:
			return fmt.Errorf("the storage server ended: %w", s.err)
		case <-ctx.Done():
			return errors.New("the storage server does not answer")
		}
	}
}

func makeBuckets(ctx context.Context, c Config) error {
	client := s3.New(s3.Options{
		Region: c.Region, BaseEndpoint: aws.String("http://" + c.Address), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(c.IAM.Operator().ID, c.IAM.Operator().Secret, ""),
	})
	for _, name := range c.Buckets {
		in := &s3.CreateBucketInput{Bucket: &name}
		if c.Region != "us-east-1" {
			in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(c.Region)}
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
