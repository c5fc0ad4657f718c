package template

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// addFunction adds a function with the routes and notifications of its events.
func (b *builder) addFunction(id string, p *properties) error {
	name, err := b.physicalName(id)
	if err != nil {
		return err
	}
	if runtime := p.text("Runtime"); runtime != "provided.al2023" {
		return fmt.Errorf("has the Runtime %q: the local cloud supports only provided.al2023", runtime)
	}
	f := Function{
		ID: id, Name: name, Binary: b.binaryName(id),
		ARN:         b.target.ARN("lambda", "function:"+name),
		Timeout:     p.number("Timeout", 3),
		MemoryMB:    p.number("MemorySize", 128),
		Concurrency: p.number("ReservedConcurrentExecutions", 0),
		Environment: map[string]string{},
		Policies:    p.list("Policies"),
	}
	if f.Alias, f.Version, err = b.aliasOf(id); err != nil {
		return err
	}
	async := p.object("EventInvokeConfig")
	f.Retries = async.number("MaximumRetryAttempts", 2)
	f.MaxEventAge = async.number("MaximumEventAgeInSeconds", 0)
	f.DeadLetters = async.object("DestinationConfig").object("OnFailure").text("Destination")
	variables := p.object("Environment").object("Variables")
	for key := range variables.values {
		f.Environment[key] = variables.text(key)
	}
	if p.err != nil {
		return p.err
	}
	if err := f.check(p); err != nil {
		return err
	}
	b.out.Functions = append(b.out.Functions, f)
	events := p.object("Events")
	for _, event := range sortedKeys(events.values) {
		e := events.object(event)
		if err := b.addEvent(id, e.text("Type"), e.object("Properties")); err != nil {
			return fmt.Errorf("has an event %s that %w", event, err)
		}
	}
	return nil
}

// check checks what Lambda checks when a function is deployed. p are the properties of the function.
func (f *Function) check(p *properties) error {
	if f.Timeout < 1 || f.Timeout > 900 {
		return fmt.Errorf("has a Timeout of %d: 1 to 900 seconds are allowed", f.Timeout)
	}
	if f.MemoryMB < 128 || f.MemoryMB > 10_240 {
		return fmt.Errorf("has a MemorySize of %d: 128 to 10240 MB are allowed", f.MemoryMB)
	}
	if p.text("ReservedConcurrentExecutions") == "0" {
		return fmt.Errorf("has ReservedConcurrentExecutions of 0, with which Lambda would never run it")
	}
	if f.Retries > 2 {
		return fmt.Errorf("has MaximumRetryAttempts of %d: 0 to 2 are allowed", f.Retries)
	}
	if f.MaxEventAge != 0 && (f.MaxEventAge < 60 || f.MaxEventAge > 21_600) {
		return fmt.Errorf("has MaximumEventAgeInSeconds of %d: 60 to 21600 are allowed", f.MaxEventAge)
	}
	return f.checkEnvironment()
}

// maxEnvironment is the largest size in bytes of all variables of a function together.
const maxEnvironment = 4096

// variableName matches the names that variables of functions can have.
var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]+$`)

// reservedVariables are those that Lambda sets itself and that a template cannot set ("Defined runtime environment
// variables").
var reservedVariables = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_EXECUTION_ENV", "AWS_LAMBDA_FUNCTION_NAME",
	"AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE",
	"AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
	"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_LAMBDA_RUNTIME_API", "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
}

// checkEnvironment checks the names and the size of the variables.
func (f *Function) checkEnvironment() error {
	size := 0
	for _, name := range sortedKeys(f.Environment) {
		size += len(name) + len(f.Environment[name])
		if slices.Contains(reservedVariables, name) {
			return fmt.Errorf("sets the variable %s, which Lambda sets itself", name)
		}
		if !variableName.MatchString(name) {
			return fmt.Errorf("has a variable %q: Lambda allows letters, digits and _, after a letter", name)
		}
	}
	if size > maxEnvironment {
		return fmt.Errorf("has variables of %d bytes: Lambda allows %d", size, maxEnvironment)
	}
	return nil
}

// addEvent adds an event of a function.
func (b *builder) addEvent(function, kind string, p *properties) error {
	switch kind {
	case "Api":
		return fmt.Errorf("is of type Api: routes are in the DefinitionBody of the API")
	case "S3":
		return b.addNotification(function, p)
	}
	b.out.Unserved = append(b.out.Unserved, fmt.Sprintf("%s event of %s", kind, function))
	return nil
}

// addNotification adds an event of a bucket.
func (b *builder) addNotification(function string, p *properties) error {
	n := Notification{Events: p.textList("Events"), Function: function}
	for _, v := range p.object("Filter").object("S3Key").list("Rules") {
		rule := newProperties(v)
		switch strings.ToLower(rule.text("Name")) {
		case "prefix":
			n.Prefix = rule.text("Value")
		case "suffix":
			n.Suffix = rule.text("Value")
		default:
			return fmt.Errorf("has a filter rule other than prefix and suffix")
		}
	}
	if err := n.checkEvents(); err != nil {
		return err
	}
	name := p.requiredText("Bucket")
	i := slices.IndexFunc(b.out.Buckets, func(b Bucket) bool { return b.Name == name })
	if p.err == nil && i < 0 {
		return fmt.Errorf("names a bucket that the template does not define")
	}
	if p.err == nil {
		if slices.ContainsFunc(b.out.Buckets[i].Notifications, n.overlaps) {
			return fmt.Errorf("asks for the same objects as another event of the bucket, which S3 refuses")
		}
		b.out.Buckets[i].Notifications = append(b.out.Buckets[i].Notifications, n)
	}
	return p.err
}

// sentEvents are the events of a bucket that the local cloud sends.
var sentEvents = []string{
	"s3:ObjectCreated:*", "s3:ObjectCreated:Put", "s3:ObjectCreated:Copy",
	"s3:ObjectCreated:CompleteMultipartUpload",
}

// checkEvents returns an error for events that would never be sent.
func (n Notification) checkEvents() error {
	if len(n.Events) == 0 {
		return fmt.Errorf("names no Events")
	}
	for _, e := range n.Events {
		if !slices.Contains(sentEvents, e) {
			return fmt.Errorf("asks for %s: the local cloud sends only %s", e, strings.Join(sentEvents, ", "))
		}
	}
	return nil
}

// overlaps reports whether there can be an object for which both notifications ask, by the same event.
func (n Notification) overlaps(other Notification) bool {
	sharesEvent := slices.ContainsFunc(n.Events, func(e string) bool {
		return slices.Contains(other.Events, e) || e == sentEvents[0] || slices.Contains(other.Events, sentEvents[0])
	})
	return sharesEvent &&
		(strings.HasPrefix(n.Prefix, other.Prefix) || strings.HasPrefix(other.Prefix, n.Prefix)) &&
		(strings.HasSuffix(n.Suffix, other.Suffix) || strings.HasSuffix(other.Suffix, n.Suffix))
}
