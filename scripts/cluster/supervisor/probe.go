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

// probeClient requests the health of processes that the supervisor has just started. It does not verify certificates,
// because some of these processes make their certificate when they start, and because it sends nothing secret.
var probeClient = &http.Client{
	Timeout:   probeTimeout,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
}

// probe checks a process by its address: it requests the process's health (http, https), resolves a name (dns), or only
// opens a connection (tcp, unix).
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

// resolves resolves a name by the cluster's DNS, through its Service, so it also checks that kube-proxy works.
func resolves(ctx context.Context, name string) error {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, net.JoinHostPort(dnsIP, "53"))
	}}
	// A query is lost if it is sent before kube-proxy has written its rules. So the timeout is short, and the caller tries
	// again.
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	_, err := resolver.LookupHost(ctx, name)
	return err
}
