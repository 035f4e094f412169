package supervisor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	probeTimeout  = 2 * time.Second
	lookupTimeout = 300 * time.Millisecond
)

var dialer = net.Dialer{Timeout: probeTimeout}

// probeClient asks processes that the supervisor has just started for their health. It sends nothing secret, and some
// of them make up their certificate when they start.
var probeClient = &http.Client{
	Timeout:   probeTimeout,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
}

// probe asks a process: for its health (http, https), for a name (dns), or only to accept a connection (tcp, unix).
func probe(ctx context.Context, address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return err
	}
	switch parsed.Scheme {
	case "http", "https":
		return healthy(ctx, address)
	case "dns":
		return resolves(ctx, parsed.Host)
	}
	conn, err := dialer.DialContext(ctx, parsed.Scheme, parsed.Host+parsed.Path)
	if err != nil {
		return err
	}
	return conn.Close()
}

func healthy(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := probeClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, response.Status)
	}
	return nil
}

// resolves asks the cluster's DNS by its Service, which proves kube-proxy as well.
func resolves(ctx context.Context, name string) error {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, net.JoinHostPort(dnsIP, "53"))
	}}
	// A question asked before kube-proxy wrote its rules is lost: ask again, don't wait for it.
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	_, err := resolver.LookupHost(ctx, name)
	return err
}
