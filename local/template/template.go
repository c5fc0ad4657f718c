// Package template reads a SAM template as the local cloud needs it: what to run, what to route, what to create. It
// resolves the intrinsic functions itself; one that it does not know is an error, never a guess.
package template

import "time"

// Template is a template with all parameters, conditions and references resolved.
type Template struct {
	Parameters  map[string]string // in force: defaults, then overrides
	Functions   []Function        // in the order of their logical ids, as all lists here
	API         API
	Tables      []Table
	Buckets     []Bucket
	Machines    []Machine
	Keys        []Key
	Rules       []Rule
	Plans       []Plan
	Permissions []Permission
	Unserved    []string // events and resources that are declared but have no local counterpart, as "what of which resource"
}

// Function is an AWS::Serverless::Function.
type Function struct {
	ID          string // logical id
	Name        string
	ARN         string
	Binary      string // file name of its program: the logical id without "Function", in lower case
	Timeout     int    // seconds
	MemoryMB    int
	Concurrency int // reserved concurrent executions; 0 for none reserved
	Retries     int // of an asynchronous invocation
	Environment map[string]string
	Policies    []any  // resolved, as written
	DeadLetters string // ARN of the queue for asynchronous invocations that failed; empty for none
}

// API is the AWS::Serverless::Api of the template; without one, ID is empty and there are no routes.
type API struct {
	ID               string
	Stage            string
	BinaryMediaTypes []string
	Routes           []Route
	Responses        map[string]GatewayResponse // by type, such as UNAUTHORIZED or DEFAULT_4XX
}

// Route leads a method and a path to a function.
type Route struct {
	Method     string // upper case; ANY matches all
	Path       string // as declared: /a/{b}
	Function   string // logical id
	Authorizer string // logical id of the authorizing function; empty for an open route
}

// GatewayResponse is what API Gateway itself answers with.
type GatewayResponse struct {
	Status  int // 0 for the type's own
	Headers map[string]string
	Body    string // template for application/json; empty for the type's own
}

// Table is an AWS::DynamoDB::Table.
type Table struct {
	Name         string
	Definition   map[string]any // input of CreateTable
	TTLAttribute string         // empty for none
}

// PartitionKey is the attribute that the table's items are spread by.
func (t Table) PartitionKey() string {
	schema, _ := t.Definition["KeySchema"].([]any)
	for _, v := range schema {
		if key, ok := v.(map[string]any); ok && key["KeyType"] == "HASH" {
			return scalarText(key["AttributeName"])
		}
	}
	return ""
}

// Permission is an AWS::Lambda::Permission. Those that SAM makes of a function's events are not among them.
type Permission struct {
	Function string // ARN
	Service  string // such as events.amazonaws.com
	Source   string // ARN of what may invoke the function
}

// Bucket is an AWS::S3::Bucket.
type Bucket struct {
	ID            string
	Name          string
	Notifications []Notification
	Policy        any // of its AWS::S3::BucketPolicy, resolved, as written; nil for none
}

// Notification sends the events of a bucket to a function.
type Notification struct {
	Events         []string // such as s3:ObjectCreated:*
	Prefix, Suffix string
	Function       string // logical id
}

// Machine is an AWS::Serverless::StateMachine.
type Machine struct {
	ID, Name, ARN string
	Definition    []byte // with all substitutions made
	Policies      []any  // resolved, as written
}

// Key is an AWS::KMS::Key for signing.
type Key struct {
	LogicalID string
	ID        string // UUID made from the logical id, so that it is the same at every start
	ARN       string
	Spec      string
	Policy    any // resolved, as written
}

// Rule is an AWS::Events::Rule on the default bus: it has a pattern or a schedule.
type Rule struct {
	ID        string
	Name, ARN string
	Pattern   map[string]any // as in the template; nil for none
	Every     time.Duration  // 0 for none
	Functions []string       // logical ids
}

// Plan is an AWS::GuardDuty::MalwareProtectionPlan.
type Plan struct {
	ID       string
	Bucket   string
	Prefixes []string // none: the whole bucket
}

// Target is where the template is read for.
type Target struct {
	Region  string
	Account string
	Stack   string
	// Parameters are values that belong to the place, such as its addresses. They come before the template's defaults
	// and after overrides; one that the template does not declare is left out.
	Parameters map[string]string
}

// Partition is the only one there is locally.
const Partition = "aws"

func (p Target) ARN(service, resource string) string {
	return "arn:" + Partition + ":" + service + ":" + p.Region + ":" + p.Account + ":" + resource
}
