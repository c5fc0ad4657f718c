// Package database runs DynamoDB as a child process, the dynoxide server, with the tables of the template.
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

// Config describes a Server.
type Config struct {
	// Program is the path of the dynoxide executable.
	Program string
	// Host is the address to listen on, at a port that is free.
	Host string
	// File is the absolute path of the database.
	File string
	// Log receives the output of the server.
	Log *os.File
	// Tables are created if they do not exist.
	Tables []template.Table
}

// Server is a running DynamoDB server.
type Server struct {
	group   *process.Group
	address string
}

// startAttempts is how often Start tries another port.
const startAttempts = 3

// Start starts the server, waits until it answers and creates the tables. The server takes a port that was free a
// moment before; if another program was faster and the server ends, Start tries again.
func Start(ctx context.Context, c Config) (*Server, error) {
	for attempt := 1; ; attempt++ {
		s, err := launch(c)
		if err != nil {
			return nil, err
		}
		err = s.waitUntilReady(ctx, c.Log)
		if err == nil {
			err = s.createTables(ctx, c.Tables)
		}
		if err == nil {
			return s, nil
		}
		s.Close()
		if !errors.Is(err, errEnded) || attempt == startAttempts {
			return nil, err
		}
	}
}

// launch starts the process of the server.
func launch(c Config) (*Server, error) {
	address, err := chooseAddress(c.Host)
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(c.Program, "--host", c.Host, "--port", port, "--db-path", c.File)
	cmd.Stdout, cmd.Stderr = c.Log, c.Log
	// The server would sync every write to the disk, which makes a large batch four times slower. Without that, a power
	// failure may lose the last moments; the end of a process, even by a signal, loses nothing.
	group, err := process.StartRelaxed(cmd)
	if err != nil {
		return nil, fmt.Errorf("start the DynamoDB server: %w", err)
	}
	return &Server{group: group, address: address}, nil
}

// chooseAddress returns an address of the host at which nothing listens.
func chooseAddress(host string) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Address returns the host and port at which the server answers.
func (s *Server) Address() string { return s.address }

// Close ends the server, which gets one second to do so by itself. Acknowledged writes are stored in either case.
func (s *Server) Close() { s.group.Stop(time.Second) }

// Ended returns a channel that is closed when the server has ended, whether by Close or by an error.
func (s *Server) Ended() <-chan struct{} { return s.group.Done() }

// createTables creates the tables that do not exist.
func (s *Server) createTables(ctx context.Context, tables []template.Table) error {
	for _, t := range tables {
		if err := s.ensureTable(ctx, t); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
}

// errEnded is returned when the server ends before it has answered.
var errEnded = errors.New("the DynamoDB server ended unexpectedly")

// readyTimeout is how long the server may take to answer, on a machine that is busy with other things.
const readyTimeout = time.Minute

// waitUntilReady returns once the server answers, or an error after readyTimeout. The error quotes the end of the log.
// Another program that answers at the address does not count.
func (s *Server) waitUntilReady(ctx context.Context, log *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		isListening := strings.Contains(lastOutput(log), "listening on http://"+s.address)
		if isListening && s.call(ctx, "ListTables", struct{}{}, nil) == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.group.Done():
			return fmt.Errorf("%w (%v): %s", errEnded, s.group.Err(), lastOutput(log))
		case <-ctx.Done():
			return fmt.Errorf("the DynamoDB server did not answer (%w): %s", context.Cause(ctx), lastOutput(log))
		}
	}
}

// lastOutput returns the last bytes of a log.
func lastOutput(log *os.File) string {
	const length = 500
	text, err := os.ReadFile(log.Name())
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-length):]))
}

// ensureTable creates a table. If one exists from an earlier start, it must have the keys of the template; indexes that
// the template has got since are created.
func (s *Server) ensureTable(ctx context.Context, t template.Table) error {
	err := s.call(ctx, "CreateTable", t.Definition, nil)
	var failure *serverError
	if errors.As(err, &failure) && strings.HasSuffix(failure.Type, "ResourceInUseException") {
		return s.checkTable(ctx, t)
	}
	if err != nil || t.TTLAttribute == "" {
		return err
	}
	return s.call(ctx, "UpdateTimeToLive", map[string]any{"TableName": t.Name,
		"TimeToLiveSpecification": map[string]any{"AttributeName": t.TTLAttribute, "Enabled": true}}, nil)
}

// checkTable returns an error if an existing table has other keys or indexes than the template.
func (s *Server) checkTable(ctx context.Context, t template.Table) error {
	var existing struct{ Table map[string]any }
	if err := s.call(ctx, "DescribeTable", map[string]string{"TableName": t.Name}, &existing); err != nil {
		return err
	}
	created, err := s.createIndexes(ctx, t, schemaOf(existing.Table))
	if err != nil {
		return err
	}
	if created {
		if err := s.call(ctx, "DescribeTable", map[string]string{"TableName": t.Name}, &existing); err != nil {
			return err
		}
	}
	if !reflect.DeepEqual(schemaOf(t.Definition), schemaOf(existing.Table)) {
		return errors.New(
			"it exists in the data folder with other keys or indexes than in the template; use another folder (--data)",
		)
	}
	return nil
}

// createIndexes creates the global indexes of a table that an existing table lacks, or has with other keys or another
// projection, and reports whether there were any.
func (s *Server) createIndexes(ctx context.Context, t template.Table, existing map[string]string) (bool, error) {
	created := false
	indexes, _ := t.Definition["GlobalSecondaryIndexes"].([]any)
	wanted := schemaOf(t.Definition)
	for _, definition := range indexes {
		name, _ := definition.(map[string]any)["IndexName"].(string)
		schema, exists := existing[name]
		if exists && schema == wanted[name] {
			continue
		}
		created = true
		if exists {
			if err := s.call(ctx, "UpdateTable", map[string]any{
				"TableName":                   t.Name,
				"GlobalSecondaryIndexUpdates": []any{map[string]any{"Delete": map[string]any{"IndexName": name}}},
			}, nil); err != nil {
				return created, fmt.Errorf("delete the old index %s: %w", name, err)
			}
		}
		if err := s.call(ctx, "UpdateTable", map[string]any{
			"TableName": t.Name, "AttributeDefinitions": t.Definition["AttributeDefinitions"],
			"GlobalSecondaryIndexUpdates": []any{map[string]any{"Create": definition}},
		}, nil); err != nil {
			return created, fmt.Errorf("create the index %s: %w", name, err)
		}
	}
	return created, nil
}

// schemaOf returns the keys of a table and of each index by name, in a form that does not depend on the order of lists.
func schemaOf(definition map[string]any) map[string]string {
	text, _ := json.Marshal(definition)
	var d struct {
		KeySchema              []key
		GlobalSecondaryIndexes []index
		LocalSecondaryIndexes  []index
	}
	_ = json.Unmarshal(text, &d) // what cannot be read counts as different
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

// key is an element of a KeySchema.
type key struct{ AttributeName, KeyType string }

// index is a secondary index.
type index struct {
	IndexName  string
	KeySchema  []key
	Projection struct{ ProjectionType string }
}

// serverError is an error response of the server.
type serverError struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// Error returns the message of the server.
func (e *serverError) Error() string { return e.Message }

// call sends a request, in as its JSON, and decodes the response into out unless that is nil.
func (s *Server) call(ctx context.Context, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	// The server requires a signature and does not verify it.
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	r.Header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
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
		failure := &serverError{Message: string(text)}
		_ = json.Unmarshal(text, failure) // other text than JSON is itself the message
		return failure
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
