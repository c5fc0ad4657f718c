// Package template reads a SAM template as the local cloud needs it: what to run, what to route and what to create. It
// resolves the intrinsic functions itself. A function that it does not support is an error.
package template

import "time"

// Template is a template with all parameters, conditions and references resolved. Lists are in the order of the logical
// IDs.
type Template struct {
	// Parameters holds the values of all parameters: the overrides, else the defaults.
	Parameters  map[string]string
	Functions   []Function
	API         API
	Tables      []Table
	Buckets     []Bucket
	Machines    []Machine
	Keys        []Key
	Rules       []Rule
	Plans       []Plan
	Permissions []Permission
	// Unserved describes the events and resources that have no local counterpart.
	Unserved []string
}

// Function is an AWS::Serverless::Function.
type Function struct {
	// ID is the logical ID.
	ID   string
	Name string
	ARN  string
	// Binary is the file name of its program: the Program in its Metadata, by default the logical ID in lower case
	// without "Function".
	Binary string
	// Timeout is in seconds.
	Timeout  int
	MemoryMB int
	// Concurrency is the reserved concurrency; 0 for none.
	Concurrency int
	// Alias is the name of the alias that SAM publishes; "" for a function without versions.
	Alias string
	// Version is the number of the version that the alias names; "" without an alias.
	Version string
	// Retries is the number of retries of an asynchronous invocation.
	Retries int
	// MaxEventAge is how long an asynchronous invocation is retried, in seconds; 0 for the default of Lambda.
	MaxEventAge int
	Environment map[string]string
	// Policies are the policy documents as written, with intrinsic functions resolved.
	Policies []any
	// DeadLetters is the ARN of the queue for failed asynchronous invocations; empty for none.
	DeadLetters string
}

// API is the AWS::Serverless::Api of the template. Without one, ID is empty and there are no routes.
type API struct {
	ID               string
	Stage            string
	BinaryMediaTypes []string
	Routes           []Route
	// ThrottlingRate and ThrottlingBurst are the requests a second and at once that each route admits; 0 for none
	// given.
	ThrottlingRate, ThrottlingBurst float64
	// Responses holds the gateway responses by their type, such as UNAUTHORIZED or DEFAULT_4XX.
	Responses map[string]GatewayResponse
}

// Route leads requests with a method and a path to a function.
type Route struct {
	// Method is in upper case; ANY matches all.
	Method string
	// Path is as in the template, with parameters: /a/{b}.
	Path string
	// Function is the logical ID of the function.
	Function string
	// Authorizer is the logical ID of the authorizing function; empty for an open route.
	Authorizer string
	// Identity are the headers without which API Gateway refuses a request itself, before the authorizer runs.
	Identity []string
}

// GatewayResponse is a response of API Gateway itself.
type GatewayResponse struct {
	// Status is 0 for the default of the type.
	Status int
	// Headers maps names to what API Gateway takes for a value: a string in single quotes, MappedRequestID, or
	// MappedRequestHeader and the name of a header.
	Headers map[string]string
	// Body is the template for application/json; empty for the default of the type.
	Body string
}

// Values of a gateway response's headers that are not strings in single quotes.
const (
	// MappedRequestID is the ID of the request.
	MappedRequestID = "context.requestId"
	// MappedRequestHeader begins the name of a header of the request; without it, the response has no such header.
	MappedRequestHeader = "method.request.header."
)

// Table is an AWS::DynamoDB::Table.
type Table struct {
	Name string
	// Definition is the input of CreateTable.
	Definition map[string]any
	// TTLAttribute is empty for a table without expiry.
	TTLAttribute string
	// Provisioned is true if the template gives the table provisioned capacity. Definition has on-demand capacity.
	Provisioned bool
}

// PartitionKey returns the name of the table's partition key.
func (t Table) PartitionKey() string {
	schema, _ := t.Definition["KeySchema"].([]any)
	for _, v := range schema {
		if key, ok := v.(map[string]any); ok && key["KeyType"] == "HASH" {
			return scalarText(key["AttributeName"])
		}
	}
	return ""
}

// Permission is an AWS::Lambda::Permission. Those that SAM creates for the events of functions are not included.
type Permission struct {
	// Function is the ARN of the function, or of its alias.
	Function string
	// Service is the principal, such as events.amazonaws.com.
	Service string
	// Source is the ARN of the resource on whose behalf the function is invoked.
	Source string
}

// Bucket is an AWS::S3::Bucket.
type Bucket struct {
	// ID is the logical ID.
	ID            string
	Name          string
	Notifications []Notification
	// Policy is the document of its AWS::S3::BucketPolicy, with intrinsic functions resolved; nil for none.
	Policy any
	// CORS are the rules by which web pages of other origins may use the bucket.
	CORS []CORSRule
}

// CORSRule is what web pages of some origins may do with a bucket.
type CORSRule struct {
	ID string
	// Origins, Methods and Headers are allowed; a * in an origin or header stands for any text.
	Origins, Methods, Headers []string
	// Exposed are the headers of responses that a page may read.
	Exposed []string
	// MaxAge is how long a browser may keep the answer to a preflight, in seconds; 0 leaves it to the browser.
	MaxAge int
}

// Notification sends the events of a bucket to a function.
type Notification struct {
	// Events are patterns such as s3:ObjectCreated:*.
	Events         []string
	Prefix, Suffix string
	// Function is the logical ID of the function.
	Function string
}

// Machine is an AWS::Serverless::StateMachine.
type Machine struct {
	ID, Name, ARN string
	// Definition has all variables replaced.
	Definition []byte
	// Policies are the policy documents as written, with intrinsic functions resolved.
	Policies []any
}

// The kinds of keys that the local cloud has.
const (
	// KeySpecSigning is a key that signs.
	KeySpecSigning = "ECC_NIST_P256"
	// KeySpecSymmetric is a key that encrypts and decrypts.
	KeySpecSymmetric = "SYMMETRIC_DEFAULT"
)

// Key is an AWS::KMS::Key.
type Key struct {
	LogicalID string
	// ID is a UUID derived from the logical ID.
	ID  string
	ARN string
	// Spec is KeySpecSigning or KeySpecSymmetric.
	Spec string
	// Policy is the key policy, with intrinsic functions resolved.
	Policy any
}

// Rule is an AWS::Events::Rule on the default bus. It has a pattern or a schedule.
type Rule struct {
	// ID is the logical ID.
	ID        string
	Name, ARN string
	// Pattern is nil for a rule without one.
	Pattern map[string]any
	// Every is the interval of the schedule; 0 for none.
	Every time.Duration
	// Functions are the targets: logical IDs of functions, each followed by a colon and the alias if the target is one.
	Functions []string
}

// Plan is an AWS::GuardDuty::MalwareProtectionPlan.
type Plan struct {
	ID     string
	Bucket string
	// Prefixes is empty if the whole bucket is protected.
	Prefixes []string
	// Role is the ARN of the role in which objects are read.
	Role string
}

// Target is the environment for which a template is read.
type Target struct {
	Region  string
	Account string
	Stack   string
	// Parameters holds values that depend on the environment, such as its addresses. They take precedence over the
	// defaults of the template, and overrides over them. Parameters that the template does not declare are ignored.
	Parameters map[string]string
	// Publish returns the number of the version that a function with an alias has now; nil means 1.
	Publish func(function, binary string) (version string, err error)
}

// Partition is the partition in all ARNs.
const Partition = "aws"

// RoleARN returns the ARN of a role of the target. The role of a function is called like the function.
func (t Target) RoleARN(name string) string {
	return "arn:" + Partition + ":iam::" + t.Account + ":role/" + name
}

// ARN returns the ARN of a resource of the target.
func (t Target) ARN(service, resource string) string {
	return "arn:" + Partition + ":" + service + ":" + t.Region + ":" + t.Account + ":" + resource
}
