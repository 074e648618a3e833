package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"
)

// config is every setting. Nothing else reads the environment.
type config struct {
	Addr        string `env:"SLUICE_ADDR" default:"127.0.0.1:8080" help:"Address to listen on (host:port)." placeholder:"ADDR"`
	BaseURL     string `env:"SLUICE_BASE_URL" help:"Address that people reach the server at. Default: http:// and the listening address." placeholder:"URL"`
	DatabaseURL string `env:"SLUICE_DATABASE_URL" default:"sqlite:data/sluice.db" help:"sqlite:PATH or postgres://…" placeholder:"URL"`
	Role        string `env:"SLUICE_ROLE" enum:"all,web,worker" default:"all" help:"What this process does: ${enum}."`

	BootstrapToken string `env:"SLUICE_BOOTSTRAP_TOKEN" help:"An API token of the owner, created at start where it is absent." placeholder:"TOKEN"`
	OpenAIKey      string `name:"openai-api-key" env:"OPENAI_API_KEY" help:"Key of the model provider." placeholder:"KEY"`
	OpenAIBaseURL  string `name:"openai-base-url" env:"OPENAI_BASE_URL" help:"Base URL of an OpenAI-compatible server." placeholder:"URL"`
	Model          string `env:"SLUICE_MODEL" help:"Model of steps that name none." placeholder:"MODEL"`

	AllowPrivate bool          `env:"SLUICE_HTTP_ALLOW_PRIVATE" help:"Let http_request reach private and loopback addresses."`
	Lease        time.Duration `env:"SLUICE_LEASE" default:"30s" help:"How long a run stays with a server that is not heard of."`
	Grace        time.Duration `env:"SLUICE_GRACE" default:"10s" help:"How long steps in flight may go on when the server stops."`
	User         string        `env:"USER" hidden:""`
	LogLevel     string        `env:"SLUICE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Least severe log line: ${enum}."`
}

// leaseMin keeps renewals apart from each other, and from the database's delays.
const leaseMin = time.Second

// Validate refuses settings that can't work together. Kong calls it.
func (c *config) Validate() error {
	switch {
	case c.Lease < leaseMin:
		return fmt.Errorf("SLUICE_LEASE must be at least %s, not %s", leaseMin, c.Lease)
	case c.Grace < 0:
		return fmt.Errorf("SLUICE_GRACE must not be negative, as %s is", c.Grace)
	}
	return nil
}

func (c *config) web() bool    { return c.Role != "worker" }
func (c *config) worker() bool { return c.Role != "web" }

// demo tells that no model is set up, so that the demo model answers.
func (c *config) demo() bool { return c.OpenAIKey == "" && c.OpenAIBaseURL == "" }

func (c *config) level() slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return slog.LevelInfo
	}
	return l
}

// baseURL is where people reach the server, once it listens on addr.
func (c *config) baseURL(addr net.Addr) (string, error) {
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return "", fmt.Errorf("SLUICE_BASE_URL must be an http or https address, not %q", c.BaseURL)
		}
		return strings.TrimRight(c.BaseURL, "/"), nil
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "", fmt.Errorf("read listening address: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}
