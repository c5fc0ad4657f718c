package template

import (
	"fmt"
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
