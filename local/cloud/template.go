package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sluice/local/iam"
	"sluice/local/lambda"
	"sluice/local/template"
)

// readTemplate reads the template, gives each function an access key, and checks that all required programs exist.
func (c *Cloud) readTemplate(context.Context) error {
	arch := "x86_64"
	if runtime.GOARCH == "arm64" {
		arch = "arm64"
	}
	scan := "builtin"
	if c.options.Set["ClamdAddress"] != "" {
		scan = "clamd"
	}
	reserved := "no" // as in a new account, which has none to reserve
	if c.options.Limits.Concurrency >= 1000 {
		reserved = "auto"
	}
	var err error
	if c.template, err = template.Load(filepath.Join(c.options.Project, "template.yaml"), template.Target{
		Region: region, Account: account, Stack: "sluice",
		Parameters: map[string]string{
			"Environment": "test", "AuditRetentionDays": "0", "ApiLogRole": "existing", "TokenRequests": "0",
			"MalwareScan": scan, "ReservedConcurrency": reserved, "Arch": arch, "Issuer": c.descriptor.APIURL,
			"AwsEndpointUrl": c.descriptor.AWSEndpointURL, "StorageEndpointUrl": c.descriptor.S3URL,
			"PublicStorageUrl": c.descriptor.S3URL, "OutboundPrivateReceivers": "127.0.0.0/8,::1/128",
			"DeliverCarriers": "1", // of the few processes that a function has
		},
		Publish: c.publishVersion,
	}, c.options.Set); err != nil {
		return err
	}
	c.descriptor.Prefix = c.template.Parameters["Prefix"]
	programs := []string{c.tool("dynoxide")}
	c.functionKeys = map[string]iam.Key{}
	for i := range c.template.Functions {
		f := &c.template.Functions[i]
		if c.options.Functions == "" {
			programs = append(programs, c.program(*f))
		}
		key := newAccessKey()
		c.functionKeys[f.Name] = key
		f.Environment["AWS_ACCESS_KEY_ID"], f.Environment["AWS_SECRET_ACCESS_KEY"] = key.ID, key.Secret
	}
	for _, path := range programs {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing: run `make build`", path)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// publishVersion returns the number of the version that the program of a function has. Functions that run elsewhere
// have one version, and so has a function whose program is missing, which readTemplate reports.
func (c *Cloud) publishVersion(function, binary string) (string, error) {
	program := c.tool(filepath.Join("functions", binary))
	if _, err := os.Stat(program); c.options.Functions != "" || errors.Is(err, fs.ErrNotExist) {
		return "1", nil
	}
	return c.versions().Publish(function, program)
}

// versions returns the published versions of the functions.
func (c *Cloud) versions() *lambda.Versions { return lambda.NewVersions(c.path("versions")) }

// pruneVersions deletes the programs of versions that no execution needs any more.
func (c *Cloud) pruneVersions() error {
	definitions := c.states.Definitions()
	return c.versions().Prune(func(function, number string) bool {
		arn := []byte(arn("lambda", "function:"+function+":"+number) + `"`)
		return slices.ContainsFunc(definitions, func(d []byte) bool { return bytes.Contains(d, arn) })
	})
}

// readPolicies reads the permissions of the template. The operator may do everything, functions and state machines what
// their policies allow.
func (c *Cloud) readPolicies(context.Context) error {
	config := iam.Config{
		Account: account, Operator: iam.Key{ID: c.descriptor.AccessKeyID, Secret: c.descriptor.SecretAccessKey},
		OnDenied: c.logDenial,
	}
	if c.options.Functions != "" {
		// All functions sign with the operator's key, the scan function too, which alone reads what is not scanned yet.
		config.OperatorRole = c.functionName("ScanFunction")
	}
	for _, f := range c.template.Functions {
		config.Roles = append(config.Roles, iam.Role{Name: f.Name, Key: c.functionKeys[f.Name], Policies: f.Policies})
	}
	for _, m := range c.template.Machines {
		config.Roles = append(config.Roles, iam.Role{Name: machineRoleName(m.Name), Policies: m.Policies})
	}
	c.planKeys = map[string]iam.Key{}
	for _, p := range c.template.Plans {
		c.planKeys[p.ID] = newAccessKey()
		config.Roles = append(config.Roles, planRole(p, c.planKeys[p.ID]))
	}
	for _, b := range c.template.Buckets {
		bucketARN := "arn:" + template.Partition + ":s3:::" + b.Name
		config.Resources = append(config.Resources, iam.Resource{ARN: bucketARN, Policy: b.Policy})
	}
	for _, k := range c.template.Keys {
		config.Resources = append(config.Resources, iam.Resource{ARN: k.ARN, Policy: k.Policy})
	}
	for _, p := range c.template.Permissions {
		permission := iam.Permission{Function: p.Function, Service: p.Service, Source: p.Source}
		config.Permissions = append(config.Permissions, permission)
	}
	var err error
	c.iam, err = iam.New(config)
	return err
}

// planRole returns the role in which GuardDuty reads the objects of a bucket. The policies that the template gives the
// role are for AWS, where GuardDuty needs more.
func planRole(p template.Plan, key iam.Key) iam.Role {
	_, name, _ := strings.Cut(p.Role, ":role/")
	return iam.Role{Name: name, Key: key, Policies: []any{map[string]any{"Statement": []any{map[string]any{
		"Sid": "ReadUploads", "Effect": "Allow", "Action": "s3:GetObject",
		"Resource": "arn:" + template.Partition + ":s3:::" + p.Bucket + "/*",
	}}}}}
}

// machineRoleName returns the name of the role of a state machine. No function has that name, even if one is called
// like the machine.
func machineRoleName(machine string) string { return "states/" + machine }

// authorizeTask returns an error unless the role of a state machine may invoke a function. The machine is given by its
// ARN, the function by its ARN or its name.
func (c *Cloud) authorizeTask(machine, function string) error {
	if !strings.HasPrefix(function, "arn:") {
		function = arn("lambda", "function:"+function)
	}
	_, name, _ := strings.Cut(machine, ":stateMachine:")
	role, ok := c.iam.RoleByName(machineRoleName(name))
	if !ok {
		return fmt.Errorf("the state machine %s has no role", machine) // cannot happen: readPolicies gives each one
	}
	return role.Authorize(iam.Request{Action: "lambda:InvokeFunction", Resource: function})
}

// authorizeDeadLetter returns an error unless a function may send a failed request to its queue.
func (c *Cloud) authorizeDeadLetter(function string) error {
	for _, f := range c.template.Functions {
		role, ok := c.iam.RoleByName(f.Name)
		if f.Name == function && f.DeadLetters != "" && ok {
			return role.Authorize(iam.Request{Action: "sqs:SendMessage", Resource: f.DeadLetters})
		}
	}
	return nil // the function has no queue; the dead letter is stored all the same, for inspection
}

// arn returns the ARN of a resource in the region and account of the local cloud.
func arn(service, resource string) string {
	return "arn:" + template.Partition + ":" + service + ":" + region + ":" + account + ":" + resource
}

// logDenial writes a denial to the log of the functions: either a policy or a program is wrong.
func (c *Cloud) logDenial(d iam.DeniedError) {
	c.log.WriteLine(d.Principal, "", fmt.Appendf(nil,
		`{"type":"platform.accessDenied","action":%q,"resource":%q,"statement":%q}`, d.Action, d.Resource, d.Statement))
}

// containerHost is the name of this machine in SAM's containers.
const containerHost = "host.docker.internal"

// writeSAMSettings writes the environment of every function in the form of `sam local --env-vars`. It is needed because
// SAM resolves references to tables, keys and state machines to their logical IDs. AWS endpoints are replaced by
// addresses that containers can reach; the address for clients is unchanged.
func (c *Cloud) writeSAMSettings(context.Context) error {
	if c.options.SAMFile == "" {
		return nil
	}
	settings := map[string]map[string]string{}
	for _, f := range c.template.Functions {
		variables := map[string]string{}
		for name, value := range f.Environment {
			switch {
			case strings.HasPrefix(name, "AWS_ENDPOINT_URL"):
				variables[name] = containerURL(value)
			case !strings.HasPrefix(name, "AWS_"): // SAM passes on the access key of its caller
				variables[name] = value
			}
		}
		settings[f.ID] = variables
	}
	text, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return err
	}
	return writeAtomically(c.options.SAMFile, append(text, '\n'))
}

// containerURL replaces the host of a URL by the one that containers reach.
func containerURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.Host = net.JoinHostPort(containerHost, u.Port())
	return u.String()
}
