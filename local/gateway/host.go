package gateway

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// answersFor reports whether a request names the gateway's host: an address, this machine under a name that no name
// server decides about, or one of Hosts. Under another name a web page of its owner would reach the gateway (DNS
// rebinding). A request without a host is none of a browser.
func (g *Gateway) answersFor(host string) bool {
	name := host
	if before, _, err := net.SplitHostPort(host); err == nil {
		name = before
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	return name == "" || net.ParseIP(name) != nil || name == "localhost" || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(g.Hosts, func(own string) bool { return strings.EqualFold(own, name) })
}

// wrongHost is sent for a request whose host is another one.
var wrongHost = &gatewayError{"WRONG_HOST", http.StatusMisdirectedRequest, "The local cloud does not answer under " +
	"this host name: use its address, localhost, or the name of this machine or of --listen."}
