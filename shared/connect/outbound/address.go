package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Resolver looks up the addresses of a name. A *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns the addresses of a host; network is "ip", "ip4" or "ip6".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// AllowListSetting is the parameter of the template that lists the private networks which may be called. Errors name
// it.
const AllowListSetting = "OutboundPrivateReceivers"

// AddressPolicy decides which addresses may be called: public ones, and addresses of the private networks that the
// operator allows. The zero value allows public ones only.
type AddressPolicy struct{ allowed []netip.Prefix }

// ParseAddressPolicy reads the operator's list of private networks: prefixes such as 10.20.0.0/16 or fd12::/32,
// separated by commas; "" for none. Link-local addresses, among them those of the metadata service, cannot be allowed.
func ParseAddressPolicy(list string) (AddressPolicy, error) {
	var p AddressPolicy
	if strings.TrimSpace(list) == "" {
		return p, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil || prefix.Addr().Is4In6() || prefix != prefix.Masked() {
			return AddressPolicy{}, fmt.Errorf("%q is not a network such as 10.20.0.0/16", strings.TrimSpace(text))
		}
		p.allowed = append(p.allowed, prefix)
	}
	return p, nil
}

// addressKind is the network of an address, in the words of errors; "" for a public address.
type addressKind string

const (
	publicAddress    addressKind = ""
	loopbackAddress  addressKind = "a loopback address"
	privateAddress   addressKind = "a private address"
	linkLocalAddress addressKind = "a link-local address"
	reservedAddress  addressKind = "a reserved address"
)

// network is a range of addresses that are not public.
type network struct {
	prefix netip.Prefix
	kind   addressKind
}

func networksOf(kind addressKind, prefixes ...string) []network {
	networks := make([]network, len(prefixes))
	for i, p := range prefixes {
		networks[i] = network{netip.MustParsePrefix(p), kind}
	}
	return networks
}

// special4 are the IPv4 networks that are not public (IANA's registry of special-purpose addresses).
var special4 = join(
	networksOf(loopbackAddress, "127.0.0.0/8"),
	networksOf(privateAddress, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
	networksOf(linkLocalAddress, "169.254.0.0/16"),
	networksOf(reservedAddress, "0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
)

// special6 are the IPv6 networks that are not public. Those outside 2000::/3 that are not named are reserved.
var special6 = join(
	networksOf(loopbackAddress, "::1/128"),
	networksOf(privateAddress, "fc00::/7", "fec0::/10", "64:ff9b:1::/48"),
	networksOf(linkLocalAddress, "fe80::/10", "fd00:ec2::/32"), // the second has AWS's metadata service
	networksOf(reservedAddress, "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
)

var (
	global6 = netip.MustParsePrefix("2000::/3")
	// nat64 is the well-known prefix for IPv4 addresses that a gateway translates (RFC 6052).
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

func join(lists ...[]network) []network {
	var all []network
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// embedded returns the IPv4 address that an IPv6 address stands for (mapped, or translated by NAT64), else the address
// itself.
func embedded(a netip.Addr) netip.Addr {
	if a = a.Unmap(); nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

// kindOf returns the kind of an address. If networks overlap the narrowest counts.
func kindOf(a netip.Addr) addressKind {
	networks, kind, bits := special4, publicAddress, -1
	if a.Is6() {
		networks = special6
		if !global6.Contains(a) {
			kind = reservedAddress
		}
	}
	for _, n := range networks {
		if n.prefix.Contains(a) && n.prefix.Bits() > bits {
			kind, bits = n.kind, n.prefix.Bits()
		}
	}
	return kind
}

// Check returns an error that says why an address of a host may not be called, nil if it may.
func (p AddressPolicy) Check(host string, a netip.Addr) error {
	if a.Zone() != "" {
		return newError(AddressRefused, fmt.Sprintf("The address of %s has a zone.", host))
	}
	a = embedded(a)
	kind := kindOf(a)
	switch kind {
	case publicAddress:
		return nil
	case loopbackAddress, privateAddress, reservedAddress:
		for _, prefix := range p.allowed {
			if prefix.Contains(a) {
				return nil
			}
		}
		return newError(AddressRefused, fmt.Sprintf("%s has %s. The operator of the service can allow networks of "+
			"receivers by the parameter %s.", host, kind, AllowListSetting))
	}
	return newError(AddressRefused, fmt.Sprintf("%s has %s, which is never called.", host, kind))
}

// dial connects to a host and port. It looks the host up once and calls only addresses that it has checked, so that no
// second look-up can lead elsewhere.
func (c *Client) dial(ctx context.Context, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, newError(URLRefused, "The host of the URL is not valid.")
	}
	addresses, err := c.lookUp(ctx, host)
	if err != nil {
		return nil, err
	}
	var refused, failed error
	var dialer net.Dialer
	for i, a := range addresses {
		if err := c.Addresses.Check(host, a); err != nil {
			refused = err
			continue
		}
		attempt, cancel := ctx, context.CancelFunc(func() {})
		if i < len(addresses)-1 {
			attempt, cancel = context.WithTimeoutCause(ctx, dialTimeout, errTimeout)
		}
		conn, err := dialer.DialContext(attempt, "tcp", net.JoinHostPort(a.String(), port))
		if err == nil {
			cancel()
			return conn, nil
		}
		failed = explain(attempt, err)
		cancel()
		if ctx.Err() != nil {
			break
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, refused
}

// lookUp returns the addresses of a host, at least one. An IP address is its own.
func (c *Client) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	resolver := c.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addresses, err := resolver.LookupNetIP(ctx, "ip", host)
	var dns *net.DNSError
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, explain(ctx, err)
	case errors.As(err, &dns) && dns.IsTimeout:
		return nil, newError(TimedOut, "The name "+host+" could not be looked up in time.")
	case err != nil || len(addresses) == 0:
		return nil, newError(NameNotFound, "The name "+host+" could not be looked up.")
	}
	if len(addresses) > maxAddresses {
		addresses = addresses[:maxAddresses]
	}
	return addresses, nil
}
