// Package database is DynamoDB: the dynoxide server as a child process, with the template's tables.
package database

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"time"

	"sluice/local/process"
	"sluice/local/template"
)

// Config is what a Server needs.
type Config struct {
	Program string // path of dynoxide
	Address string // host:port to listen on
	File    string // absolute; the database
	Log     *os.File
	Tables  []template.Table // made when missing
}

// Server is a running DynamoDB.
type Server struct {
	group *process.Group
	url   string
}

// Start starts the server, makes the tables and returns once it answers.
func Start(ctx context.Context, c Config) (*Server, error) {
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil {
		return nil, err
	}
	probe, err := net.Listen("tcp", c.Address)
	if err != nil {
		return nil, err
	}
	if err := probe.Close(); err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Program, "--host", host, "--port", port, "--db-path", c.File)
	cmd.Stdout, cmd.Stderr = c.Log, c.Log
	// It would sync every item by itself, which makes a large batch four times slower. What is lost without is the last moment
	// before a power cut; the end of a process, however violent, loses nothing.
	group, err := process.StartRelaxed(cmd)
	if err != nil {
		return nil, fmt.Errorf("the DynamoDB server cannot be started: %w", err)
	}
	s := &Server{group: group, url: "http://" + c.Address}
	if err := s.prepare(ctx, c); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the server. It gets a moment to do so by itself; acknowledged writes are on the disk either way.
func (s *Server) Close() { s.group.Stop(time.Second) }

// Ended is closed when the server has ended, asked or not.
func (s *Server) Ended() <-chan struct{} { return s.group.Done() }

func (s *Server) prepare(ctx context.Context, c Config) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	for _, t := range c.Tables {
		if err := s.table(ctx, t); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
}

func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if s.call(ctx, "ListTables", struct{}{}, nil) == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.group.Done():
			return errors.New("the DynamoDB server ended at once; its log says why")
		case <-ctx.Done():
			return errors.New("the DynamoDB server does not answer")
		}
	}
}

// table makes a table, or makes sure that the one from an earlier start is still what the template says.
func (s *Server) table(ctx context.Context, t template.Table) error {
	err := s.call(ctx, "CreateTable", t.Definition, nil)
	var known *failure
	if errors.As(err, &known) && strings.HasSuffix(known.Type, "ResourceInUseException") {
		return s.same(ctx, t)
	}
	if err != nil || t.TTLAttribute == "" {
		return err
	}
	return s.call(ctx, "UpdateTimeToLive", map[string]any{"TableName": t.Name,
		"TimeToLiveSpecification": map[string]any{"AttributeName": t.TTLAttribute, "Enabled": true}}, nil)
}

func (s *Server) same(ctx context.Context, t template.Table) error {
	var there struct{ Table map[string]any }
	if err := s.call(ctx, "DescribeTable", map[string]string{"TableName": t.Name}, &there); err != nil {
		return err
	}
	if !reflect.DeepEqual(shape(t.Definition), shape(there.Table)) {
		return errors.New("the data folder holds it with other keys or indexes than the template; start on another folder")
	}
	return nil
}

// shape is what makes two tables the same, with lists as sets.
func shape(definition map[string]any) map[string]string {
	text, _ := json.Marshal(definition)
	var d struct {
		KeySchema              []key
		GlobalSecondaryIndexes []index
		LocalSecondaryIndexes  []index
	}
	_ = json.Unmarshal(text, &d) // what cannot be read differs
	keys := func(ks []key) (out string) {
		for _, k := range ks {
			out += k.KeyType + " " + k.AttributeName + " "
		}
		return out
	}
	out := map[string]string{"": keys(d.KeySchema)}
	for _, i := range append(d.GlobalSecondaryIndexes, d.LocalSecondaryIndexes...) {
		out[i.IndexName] = keys(i.KeySchema) + i.Projection.ProjectionType
	}
	return out
}

type key struct{ AttributeName, KeyType string }

type index struct {
	IndexName  string
	KeySchema  []key
	Projection struct{ ProjectionType string }
}

// failure is an error of the server.
type failure struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Message }

func (s *Server) call(ctx context.Context, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	// The server wants to see a signature, and checks none.
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		f := &failure{Message: string(text)}
		_ = json.Unmarshal(text, f) // what is no JSON is its own message
		return f
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
