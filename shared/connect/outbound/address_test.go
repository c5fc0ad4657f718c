package outbound_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/errtest"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	var public outbound.AddressPolicy
	allowing := errtest.Must(outbound.ParseAddressPolicy("10.20.0.0/16, fd12::/32,127.0.0.0/8,0.0.0.0/0,::/0"))(t)
	narrow := errtest.Must(outbound.ParseAddressPolicy("10.20.0.0/16,fd12::/32"))(t)
	for _, test := range []struct {
		addresses string
		// public, narrow and wide are what the policy that allows nothing, that of two networks and that of everything
		// decide.
		public, narrow, wide bool
	}{
		{"8.8.8.8 1.1.1.1 172.15.255.255 172.32.0.0 192.167.255.255 11.0.0.0 100.63.255.255 100.128.0.0 " +
			"223.255.255.255 2606:4700::1111 2a00::1 ::ffff:8.8.8.8 64:ff9b::808:808", true, true, true},
		{"10.20.0.0 10.20.255.255 ::ffff:10.20.1.1 64:ff9b::a14:101 fd12::1", false, true, true},
		{"10.0.0.1 10.19.255.255 10.21.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.1.1 100.64.0.1 fc00::1 " +
			"fdff::1 fec0::1 64:ff9b:1::1", false, false, true},
		{"127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1", false, false, true},
		{"0.0.0.0 0.1.2.3 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 " +
			"224.0.0.1 240.0.0.1 255.255.255.255 :: ::127.0.0.1 ::8.8.8.8 100::1 2001::1 2001:db8::1 2002:7f00:1:: " +
			"2002:808:808:: 3fff::1 4000::1 5f00::1 ff02::1 ff0e::1", false, false, true},
		{"169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe " +
			"fe80::1 febf::1 fd00:ec2::254 fd00:ec2::23", false, false, false},
		{"fe80::1%eth0 2606:4700::1111%eth0", false, false, false},
	} {
		for text := range strings.FieldsSeq(test.addresses) {
			address := netip.MustParseAddr(text)
			for name, policy := range map[string]struct {
				outbound.AddressPolicy
				want bool
			}{
				"public": {public, test.public}, "narrow": {narrow, test.narrow}, "wide": {allowing, test.wide},
			} {
				err := policy.Check("receiver.test", address)
				if (err == nil) != policy.want {
					t.Errorf("%s, policy %s: %v, want it to be allowed: %v", text, name, err, policy.want)
				}
				if err != nil && strings.Contains(err.Error(), text) {
					t.Errorf("the error tells the address: %v", err)
				}
			}
		}
	}
}

func TestParseAddressPolicyRefuses(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"10.0.0.1", "10.0.0.1/8", "10.0.0.0/33", "example.com", ",", "10.0.0.0/8,", "*",
		"::ffff:10.0.0.0/104", "10.0.0.0/8 192.168.0.0/16"} {
		errtest.Fails(t, list, errtest.Of(outbound.ParseAddressPolicy(list)))
	}
}

// A private receiver is refused by an error that names the operator's setting, and called once that allows it.
func TestPrivateReceiver(t *testing.T) {
	t.Parallel()
	root := outboundtest.NewRoot(t, "root")
	server := outboundtest.NewServer(t, root.Issue(outboundtest.Leaf{}), okHandler)
	client := newClient(t)
	client.PublicCAs = outboundtest.Pool(root)
	wantCall(t, client, server.URL, "")
	client = newClient(t)
	client.Addresses = outbound.AddressPolicy{}
	_, err := client.Do(t.Context(), tenant, newRequest(t, server.URL, ""))
	wantReason(t, err, outbound.AddressRefused)
	if err == nil || !strings.Contains(err.Error(), "OutboundPrivateReceivers") ||
		strings.Contains(err.Error(), "127.") {
		t.Errorf("got the error %v, want one that names the setting and not the address", err)
	}
}

// Names are looked up once for each connection, and the checked address is the called one: a name that leads outside at
// the first look-up and inside at the second one is refused at the second.
func TestRebinding(t *testing.T) {
	t.Parallel()
	root := outboundtest.NewRoot(t, "root")
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusNoContent)
	})
	server := outboundtest.NewServer(t, root.Issue(outboundtest.Leaf{}), handler)
	for name, second := range map[string]string{
		"metadata service": "169.254.169.254", "private": "10.0.0.1", "mapped": "::ffff:169.254.169.254",
		"unique local": "fd00:ec2::254", "translated": "64:ff9b::a9fe:a9fe", "several": "10.0.0.1 169.254.169.254 ::1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolver := outboundtest.NewResolver()
			resolver.Set(outboundtest.ReceiverHost, "127.0.0.1", second)
			client := newClient(t)
			client.Resolver, client.PublicCAs = resolver, outboundtest.Pool(root)
			wantCall(t, client, server.URL, "")
			wantCall(t, client, server.URL, outbound.AddressRefused)
		})
	}
}

// Of several addresses those that may be called are.
func TestSeveralAddresses(t *testing.T) {
	t.Parallel()
	root := outboundtest.NewRoot(t, "root")
	server := outboundtest.NewServer(t, root.Issue(outboundtest.Leaf{}), okHandler)
	for _, test := range []struct {
		name, addresses string
		want            outbound.Reason
	}{
		{"the first is refused", "169.254.169.254 127.0.0.1", ""},
		{"the first does not listen", "127.0.0.2 127.0.0.1", ""},
		{"all refused", "169.254.169.254 10.0.0.1", outbound.AddressRefused},
		{"one refused, one does not listen", "10.0.0.1 127.0.0.2", outbound.ConnectionFailed},
		{"none", "", outbound.NameNotFound},
		{"beyond the most that are tried", "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4 127.0.0.1", outbound.AddressRefused},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			resolver := outboundtest.NewResolver()
			resolver.Set(outboundtest.ReceiverHost, test.addresses)
			client := newClient(t)
			client.Resolver, client.PublicCAs = resolver, outboundtest.Pool(root)
			wantCall(t, client, server.URL, test.want)
		})
	}
}

func TestRefusedURLs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url  string
		want outbound.Reason
	}{
		{"http://receiver.test/", outbound.URLRefused},
		{"ftp://receiver.test/", outbound.URLRefused},
		{"https:///path", outbound.URLRefused},
		{"https://user:password@receiver.test/", outbound.URLRefused},
		{"https://2130706433/", outbound.URLRefused},
		{"https://0x7f.1/", outbound.URLRefused},
		{"https://receiver.test:0/", outbound.URLRefused},
		{"https://[fe80::1%25eth0]/", outbound.URLRefused},
		{"https://unknown.test/", outbound.NameNotFound},
		{"https://[::ffff:169.254.169.254]/", outbound.AddressRefused},
		{"https://169.254.169.254/latest/meta-data", outbound.AddressRefused},
		{"https://[fd00:ec2::254]/", outbound.AddressRefused},
		{"https://0.0.0.0/", outbound.AddressRefused},
		{"https://[::]/", outbound.AddressRefused},
	} {
		t.Run(test.url, func(t *testing.T) {
			t.Parallel()
			_, err := newClient(t).Do(t.Context(), tenant, newRequest(t, test.url, ""))
			wantReason(t, err, test.want)
			if err != nil && (strings.Contains(err.Error(), "password@") || strings.Contains(err.Error(), "/latest")) {
				t.Errorf("the error tells parts of the URL: %v", err)
			}
		})
	}
}

// No proxy of the environment is used.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	root := outboundtest.NewRoot(t, "root")
	server := outboundtest.NewServer(t, root.Issue(outboundtest.Leaf{}), okHandler)
	client := newClient(t, externalauth.Configuration{ID: "c", URL: server.URL})
	client.PublicCAs = outboundtest.Pool(root)
	wantCall(t, client, server.URL, "")
}

func FuzzParseAddressPolicy(f *testing.F) {
	for _, seed := range []string{"", "10.20.0.0/16, fd12::/32", "10.0.0.1", "::/0,", "169.254.0.0/16"} {
		f.Add(seed)
	}
	metadata := netip.MustParseAddr("169.254.169.254")
	f.Fuzz(func(t *testing.T, list string) {
		policy, err := outbound.ParseAddressPolicy(list)
		if err == nil && policy.Check("receiver.test", metadata) == nil {
			t.Errorf("%q allows the metadata service", list)
		}
	})
}

// An address that is not refused is one that the standard library, too, calls neither private nor local.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "::1", "64:ff9b::a9fe:a9fe", "8.8.8.8"} {
		f.Add(netip.MustParseAddr(seed).AsSlice())
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		a, ok := netip.AddrFromSlice(bytes)
		if !ok || outbound.AddressPolicy.Check(outbound.AddressPolicy{}, "receiver.test", a) != nil {
			return
		}
		if a = a.Unmap(); !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
			t.Errorf("%s is allowed", a)
		}
	})
}
