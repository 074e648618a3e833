package nodes

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHTTPRequest(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "%s %s|%s|%s|%s|%s", r.Method, r.URL.RawQuery, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), b)
	})
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"b":12345678901234567890,"a":1}`)
	})
	mux.HandleFunc("/status/", func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscanf(r.URL.Path, "/status/%d", &code)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "why")
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", maxHTTPBody+1))
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	k := newHTTPRequest(HTTPOptions{AllowPrivate: true})
	tests := []struct{ name, config, body, fails string }{
		{name: "get", config: `{"url":"$/echo","query":{"q":["a b",2]}}`, body: `"GET q=a+b\u0026q=2|||run/node|"`},
		{name: "json", config: `{"method":"POST","url":"$/echo","body_type":"json","json":"{\"a\":1}","auth":{"type":"bearer","token":"t"}}`, body: `"POST |application/json|Bearer t|run/node|{\"a\":1}"`},
		{name: "form", config: `{"method":"POST","url":"$/echo","body_type":"form","form":{"a":"b c"},"auth":{"type":"basic","username":"u","password":"p"}}`, body: `"POST |application/x-www-form-urlencoded|Basic dTpw|run/node|a=b+c"`},
		{name: "decoded", config: `{"url":"$/json"}`, body: `{"b":12345678901234567890,"a":1}`},
		{name: "as text", config: `{"url":"$/json","response":"text"}`, body: `"{\"b\":12345678901234567890,\"a\":1}"`},
		{name: "accepted", config: `{"url":"$/status/404","accept_status":[404]}`, body: `"why"`},
		{name: "not found", config: `{"url":"$/status/404"}`, fails: "404 Not Found: why"},
		{name: "busy", config: `{"url":"$/status/503"}`, fails: "503"},
		{name: "too big", config: `{"url":"$/big"}`, fails: "longer than"},
		{name: "redirects", config: `{"url":"$/round"}`, fails: "redirects more than"},
		{name: "no json", config: `{"url":"$/echo","response":"json"}`, fails: "did not answer with JSON"},
		{name: "broken body", config: `{"url":"$/echo","body_type":"json","json":"{"}`, fails: "not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, k, strings.ReplaceAll(tt.config, "$", s.URL), nil)
			if tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
				return
			}
			require.NoError(t, err)
			require.Contains(t, strings.ReplaceAll(encoded(t, out.Value), "&", `\u0026`), `"body":`+tt.body)
		})
	}
	t.Run("private addresses are refused", func(t *testing.T) {
		t.Parallel()
		_, err := execute(t, newHTTPRequest(HTTPOptions{}), `{"url":"`+s.URL+`/json"}`, nil)
		require.ErrorContains(t, err, "private network")
	})
}

func TestHTTPRedirectKeepsKeysHome(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Clone() }))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(first.Close)
	_, err := execute(t, newHTTPRequest(HTTPOptions{AllowPrivate: true}), `{"url":"`+first.URL+`","headers":{"X-Api-Key":"k"},"auth":{"type":"bearer","token":"t"}}`, nil)
	require.NoError(t, err)
	h := <-seen
	require.Empty(t, h.Get("X-Api-Key"))
	require.Empty(t, h.Get("Authorization"))
	require.Equal(t, "sluice", h.Get("User-Agent"))
}

func TestPublic(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "127.0.0.1": false, "10.1.2.3": false, "169.254.169.254": false,
		"192.168.1.1": false, "0.0.0.0": false, "100.64.0.1": false, "::1": false, "fe80::1": false, "fc00::1": false,
		"64:ff9b::7f00:1": false, "224.0.0.1": false, "255.255.255.255": false,
	} {
		require.Equal(t, want, public(netip.MustParseAddr(address)), address)
	}
}
