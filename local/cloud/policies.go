package cloud

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"sluice/local/endpoint"
	"sluice/local/iam"
	"sluice/local/policy"
	"sluice/local/template"
)

// readPolicies reads who may do what: the operator everything, the functions and state machines what the template says.
func (c *Cloud) readPolicies(context.Context) error {
	config := iam.Config{
		Account: account, Operator: iam.Key{ID: c.self.AccessKeyID, Secret: c.self.SecretAccessKey}, Denied: c.denied,
	}
	for _, f := range c.template.Functions {
		config.Roles = append(config.Roles, iam.Role{Name: f.Name, Key: c.functionKeys[f.Name], Policies: f.Policies})
	}
	for _, m := range c.template.Machines {
		config.Roles = append(config.Roles, iam.Role{Name: machineRole(m.Name), Policies: m.Policies})
	}
	for _, b := range c.template.Buckets {
		config.Resources = append(config.Resources, iam.Resource{ARN: "arn:" + template.Partition + ":s3:::" + b.Name, Policy: b.Policy})
	}
	for _, k := range c.template.Keys {
		config.Resources = append(config.Resources, iam.Resource{ARN: k.ARN, Policy: k.Policy})
	}
	for _, p := range c.template.Permitted {
		config.Permitted = append(config.Permitted, iam.Permission{Function: p.Function, Service: p.Service, Source: p.Source})
	}
	var err error
	c.iam, err = iam.New(config)
	return err
}

// machineRole is a name that no function has: the state machine and a function may well share theirs.
func machineRole(machine string) string { return "states/" + machine }

// invocable tells whether the role of a state machine may call a function, named by its ARN or its name.
func (c *Cloud) invocable(machine, function string) error {
	if !strings.HasPrefix(function, "arn:") {
		function = arn("lambda", "function:"+function)
	}
	_, name, _ := strings.Cut(machine, ":stateMachine:")
	role, ok := c.iam.ByName(machineRole(name))
	if !ok {
		return fmt.Errorf("the machine %s has no role", machine) // all have: readPolicies reads the same template
	}
	return role.Allow(policy.Request{Action: "lambda:InvokeFunction", Resource: function})
}

// deadLetter tells whether a function may send what it could not do to its queue.
func (c *Cloud) deadLetter(function string) error {
	for _, f := range c.template.Functions {
		role, ok := c.iam.ByName(f.Name)
		if f.Name == function && f.DeadLetters != "" && ok {
			return role.Allow(policy.Request{Action: "sqs:SendMessage", Resource: f.DeadLetters})
		}
	}
	return nil // it has no queue; what failed is kept all the same, for whoever looks for it
}

// arn names something of this place.
func arn(service, resource string) string {
	return "arn:" + template.Partition + ":" + service + ":" + region + ":" + account + ":" + resource
}

// denied writes a line into the log of the functions. A denial is nobody's daily business: either a policy or a program is wrong.
func (c *Cloud) denied(d iam.Denied) {
	c.log.Line(d.Principal, "", fmt.Appendf(nil, `{"type":"platform.accessDenied","action":%q,"resource":%q,"statement":%q}`,
		d.Action, d.Resource, d.Statement))
}

func (c *Cloud) services() (endpoint.Services, error) {
	dynamo, err := url.Parse(c.self.DynamoDBURL)
	s := endpoint.Services{
		IAM: c.iam, Now: time.Now, DynamoDB: dynamo, States: c.states, Keys: c.keys, Lambda: c.lambda, Malware: c.malware,
		ARN: arn, MachineOf: c.states.MachineOf, TagOf: c.keys.TagOf, PartitionKeys: map[string]string{},
	}
	for _, t := range c.template.Tables {
		s.PartitionKeys[t.Name] = t.PartitionKey()
	}
	return s, err
}
