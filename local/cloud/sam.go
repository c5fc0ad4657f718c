package cloud

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"strings"
)

// containerHost is this machine as containers of SAM see it.
const containerHost = "host.docker.internal"

// tellSAM writes the settings of every function as `sam local --env-vars` takes them: SAM itself resolves a table, a key or a
// state machine to its logical id. Addresses become those that a container reaches; the one for clients stays as it is.
func (c *Cloud) tellSAM(context.Context) error {
	if c.options.SAMFile == "" {
		return nil
	}
	settings := map[string]map[string]string{}
	for _, f := range c.template.Functions {
		own := map[string]string{}
		for name, value := range f.Environment {
			switch {
			case strings.HasPrefix(name, "AWS_ENDPOINT_URL"):
				own[name] = fromContainer(value)
			case !strings.HasPrefix(name, "AWS_"): // SAM hands on the keys of who runs it
				own[name] = value
			}
		}
		settings[f.ID] = own
	}
	text, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(c.options.SAMFile, append(text, '\n'))
}

func fromContainer(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.Host = net.JoinHostPort(containerHost, u.Port())
	return u.String()
}
