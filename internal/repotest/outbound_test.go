package repotest

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// mayConnect are the packages of the service that open connections, each with whom they call.
var mayConnect = map[string]string{
	"shared/connect/outbound": "receivers that tenants name: the one way out",
	"shared/kit/awsconfig":    "AWS, by the client of its SDK",
	"shared/kit/malware":      "the malware scanner that the operator names",
}

// connecting are what opens a connection: functions, variables, and types whose values do.
var connecting = map[string][]string{
	"net": {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialUnix", "DialIP", "Dialer"},
	"net/http": {"Client", "DefaultClient", "DefaultTransport", "Transport", "Get", "Head", "Post", "PostForm",
		"NewFileTransport"},
	"net/http/httputil":   {"ReverseProxy", "NewSingleHostReverseProxy", "ClientConn"},
	"net/rpc":             {"Dial", "DialHTTP", "DialHTTPPath"},
	"net/rpc/jsonrpc":     {"Dial"},
	"net/smtp":            {"Dial", "SendMail"},
	"crypto/tls":          {"Dial", "DialWithDialer", "Dialer", "Client"},
	"golang.org/x/net":    {"*"},
	"golang.org/x/oauth2": {"*"},
	"github.com/aws/aws-sdk-go-v2/aws/transport/http": {"NewBuildableClient", "BuildableClient"},
}

// Only shared/connect/outbound makes connections to hosts that are not the operator's own: everything that a tenant
// names goes through its rules about addresses, certificates and limits. Tests and fakes may connect.
func TestThereIsOneWayOut(t *testing.T) {
	used := map[string]bool{}
	for _, p := range modulePackages(t) {
		folder := folderOf(p)
		isService := strings.HasPrefix(folder, "shared/") || strings.HasPrefix(folder, "functions/")
		if !isService || layerOf(folder) == testLayer {
			continue
		}
		inspect(p, func(n ast.Node) {
			name, ok := n.(*ast.Ident)
			if !ok {
				return
			}
			if what := connectingName(p.TypesInfo.Uses[name]); what != "" {
				if used[folder] = true; mayConnect[folder] == "" {
					t.Errorf("%s uses %s: only shared/connect/outbound calls receivers", folder, what)
				}
			}
		})
	}
	for folder := range mayConnect {
		if !used[folder] {
			t.Errorf("%s opens no connection: remove it from mayConnect", folder)
		}
	}
}

// connectingName returns the full name of an object that opens connections, "" for any other.
func connectingName(object types.Object) string {
	if object == nil || object.Pkg() == nil || object.Parent() != object.Pkg().Scope() {
		return ""
	}
	path, name := object.Pkg().Path(), object.Name()
	for module, names := range connecting {
		isAll := slices.Equal(names, []string{"*"}) && isWithin(path, module)
		if isAll || path == module && slices.Contains(names, name) {
			return path + "." + name
		}
	}
	return ""
}
