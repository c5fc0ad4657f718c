package cloud

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"strings"
)

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
