// Package dynamotest gives the tests of stores a real DynamoDB server, one a test binary, in memory, with the tables that
// template.yaml declares.
package dynamotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

var shared struct {
	once   sync.Once
	runs   bool
	server *server
	err    error
}

type server struct {
	cmd *exec.Cmd
	url string
}

// Run runs the tests of a package and ends the server that they started, if any. It belongs in TestMain:
// os.Exit(dynamotest.Run(m)).
func Run(m *testing.M) int {
	shared.runs = true
	defer func() {
		if shared.server != nil {
			shared.server.stop()
		}
	}()
	return m.Run()
}

// Client returns a client of this test binary's server.
func Client(t testing.TB) *dynamodb.Client {
	t.Helper()
	if !shared.runs {
		t.Fatal("dynamotest: TestMain does not call dynamotest.Run")
	}
	shared.once.Do(func() { shared.server, shared.err = start(t.Context()) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: &shared.server.url,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	})
}

// root is the repository's folder: the one above the test's that holds template.yaml.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "template.yaml")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("dynamotest: no template.yaml above the test's folder")
		}
		dir = above
	}
}

// start tries a few ports: one that was free a moment ago may be taken by the time the server opens it.
func start(ctx context.Context) (*server, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "bin", "dynoxide")
	if _, err := os.Stat(binary); err != nil {
		return nil, errors.New("dynamotest: bin/dynoxide, the DynamoDB server, is missing: run `make tools`")
	}
	for range 3 {
		var s *server
		if s, err = attempt(ctx, binary); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("dynamotest: %w", err)
}

func attempt(ctx context.Context, binary string) (*server, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()

	var output bytes.Buffer
	cmd := exec.Command(binary, "--port", fmt.Sprint(port))
	cmd.Stdout, cmd.Stderr = &output, &output
	exited := make(chan error, 1)
	if err := launch(cmd, exited); err != nil {
		return nil, err
	}
	s := &server{cmd, fmt.Sprintf("http://127.0.0.1:%d", port)}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		select {
		case err := <-exited:
			return nil, fmt.Errorf("the server ended at its start: %v: %s", err, output.Bytes())
		case <-ctx.Done():
			s.stop()
			return nil, errors.New("the server did not answer within 10 seconds")
		case <-tick.C:
			if s.answers(ctx) {
				tick.Stop()
				return s, nil
			}
		}
	}
}

func (s *server) answers(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return true
}

func (s *server) stop() { s.cmd.Process.Kill() }
