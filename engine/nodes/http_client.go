package nodes

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// HTTPOptions bound what http_request may reach.
type HTTPOptions struct {
	// AllowPrivate lets requests go to loopback, private and link-local addresses.
	// Off, every connection is checked after the name was resolved, redirects too.
	AllowPrivate bool
}

var errRedirects = errors.New("too many redirects")

// blockedError is an address that http_request may not reach.
type blockedError struct{ address string }

func (e *blockedError) Error() string {
	return fmt.Sprintf("%s is inside of the private network; requests there are not allowed", e.address)
}

// newHTTPClient returns a client without an overall timeout: the attempt's context
// bounds a call. Without AllowPrivate no proxy is used, because the check would see
// the proxy's address instead of the server's.
func newHTTPClient(o HTTPOptions) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout: 60 * time.Second, MaxIdleConnsPerHost: 8, ForceAttemptHTTP2: true,
	}
	if o.AllowPrivate {
		transport.Proxy = http.ProxyFromEnvironment
	} else {
		dialer.Control = refusePrivate
	}
	return &http.Client{
		Transport: transport,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errRedirects
			}
			if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
				// What was meant for one server is not for another: a key may be in
				// a header of any name.
				for name := range req.Header {
					if !neutral(name) {
						req.Header.Del(name)
					}
				}
			}
			return nil
		},
	}
}

// neutral headers say nothing about who asks.
func neutral(name string) bool {
	switch name {
	case "Accept", "Accept-Language", "Content-Type", "User-Agent":
		return true
	}
	return false
}

// refusePrivate runs after the name was resolved and before the connection is
// made, so a name that resolves differently a second time gains nothing.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read address %s: %w", address, err)
	}
	if !public(ap.Addr().Unmap()) {
		return &blockedError{address: ap.Addr().String()}
	}
	return nil
}

// reserved are ranges beyond what [netip.Addr] tells apart.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), // IPv4 inside of IPv6
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

func public(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
