// Package dynamotest gives tests a real DynamoDB server with the tables of template.yaml.
package dynamotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.yaml.in/yaml/v3"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/errtest"
)

// Start runs a server in memory until the test ends and returns a client of it. A table is named as in the template,
// with "test" for the prefix: test-batches.
func Start(t testing.TB) *dynamodb.Client {
	t.Helper()
	tables := errtest.Must(templateTables())(t)
	root := errtest.Must(moduleRoot())(t)
	program := filepath.Join(root, "bin", "dynoxide")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is missing: run `make tools` first", program)
	}
	address := run(t, program)
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + address),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}, dynamo.RecognizeOwnWrites)
	for _, table := range tables {
		errtest.Fatal(t, errtest.Of(client.CreateTable(context.Background(), &table)))
	}
	return client
}

// templateTables reads the tables of template.yaml, once for all tests of a program: reading 5,000 lines of YAML under
// the race detector takes half a second.
var templateTables = sync.OnceValues(func() ([]dynamodb.CreateTableInput, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return tablesOf(filepath.Join(root, "template.yaml"))
})

// startDir is the folder in which the test process started: an S3 server in the same process may have changed it since.
var startDir, startDirErr = os.Getwd()

func moduleRoot() (string, error) {
	dir, err := startDir, startDirErr
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "template.yaml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no template.yaml above the test")
		}
	}
	return "", err
}

// startTimeout is how long a server may take to answer, on a machine that is busy with other tests.
const startTimeout = time.Minute

// run starts the server, waits until it answers and returns its address. The server cannot choose a port, and ends if
// another process has taken the one that was free a moment ago: then it is started on another one.
func run(t testing.TB, program string) string {
	t.Helper()
	const attempts = 5
	var output *serverOutput
	for range attempts {
		l := errtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
		address := l.Addr().String()
		l.Close()
		_, port, _ := net.SplitHostPort(address)
		output = &serverOutput{}
		cmd := exec.Command(program, "--port", port)
		cmd.Stdout, cmd.Stderr = output, output
		ended := errtest.Must(launch(cmd))(t)
		t.Cleanup(func() {
			cmd.Process.Kill()
			<-ended
		})
		if output.waitForAnswer(address, ended) {
			return address
		}
	}
	t.Fatalf("%s does not answer:\n%s", program, output)
	return ""
}

// serverOutput keeps the output of a server. It may be read while the server runs.
type serverOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *serverOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *serverOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// waitForAnswer reports whether the server that prints the output answers at its address. Another server that answers
// there does not count.
func (o *serverOutput) waitForAnswer(address string, ended <-chan struct{}) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(startTimeout); ; {
		select {
		case <-ended:
			return false
		case <-deadline:
			return false
		case <-tick.C:
			if !strings.Contains(o.String(), "listening on http://"+address) {
				continue
			}
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Close()
				return true
			}
		}
	}
}

type attribute struct {
	Name string `yaml:"AttributeName"`
	Type string `yaml:"AttributeType"`
}

type keyPart struct {
	Name string `yaml:"AttributeName"`
	Type string `yaml:"KeyType"`
}

type table struct {
	TableName              string
	AttributeDefinitions   []attribute `yaml:"AttributeDefinitions"`
	KeySchema              []keyPart   `yaml:"KeySchema"`
	GlobalSecondaryIndexes []struct {
		IndexName  string    `yaml:"IndexName"`
		KeySchema  []keyPart `yaml:"KeySchema"`
		Projection struct {
			ProjectionType   string   `yaml:"ProjectionType"`
			NonKeyAttributes []string `yaml:"NonKeyAttributes"`
		} `yaml:"Projection"`
	} `yaml:"GlobalSecondaryIndexes"`
}

// tablesOf reads the DynamoDB tables of a template.
func tablesOf(path string) ([]dynamodb.CreateTableInput, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var template struct {
		Resources map[string]struct {
			Type       string    `yaml:"Type"`
			Properties yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		return nil, err
	}
	var out []dynamodb.CreateTableInput
	for name, r := range template.Resources {
		if r.Type != "AWS::DynamoDB::Table" {
			continue
		}
		var p table
		if err := r.Properties.Decode(&p); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if p.TableName == "" {
			for i := 0; i+1 < len(r.Properties.Content); i += 2 {
				if r.Properties.Content[i].Value == "TableName" {
					p.TableName = r.Properties.Content[i+1].Value
				}
			}
		}
		out = append(out, p.input())
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s declares no table", path)
	}
	return out, nil
}

func (p table) input() dynamodb.CreateTableInput {
	in := dynamodb.CreateTableInput{
		TableName:   aws.String(strings.ReplaceAll(p.TableName, "${Prefix}", "test")),
		BillingMode: types.BillingModePayPerRequest, KeySchema: schema(p.KeySchema),
	}
	for _, a := range p.AttributeDefinitions {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(a.Name),
				AttributeType: types.ScalarAttributeType(a.Type)})
	}
	for _, g := range p.GlobalSecondaryIndexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(g.IndexName), KeySchema: schema(g.KeySchema),
			Projection: &types.Projection{
				ProjectionType:   types.ProjectionType(g.Projection.ProjectionType),
				NonKeyAttributes: g.Projection.NonKeyAttributes,
			},
		})
	}
	return in
}

func schema(parts []keyPart) []types.KeySchemaElement {
	var out []types.KeySchemaElement
	for _, k := range parts {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(k.Name), KeyType: types.KeyType(k.Type)})
	}
	return out
}
