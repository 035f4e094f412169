package supervisor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"
)

const (
	probeTimeout  = 2 * time.Second
	lookupTimeout = 300 * time.Millisecond
)

// probeClient asks processes that the supervisor has just started for their health. It sends nothing secret, and some
// of them make up their certificate when they start.
var probeClient = &http.Client{
	Timeout:   probeTimeout,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
}

// healthy asks a process for its health.
func healthy(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := probeClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, response.Status)
		}
		return nil
	}
}

// accepts is for processes that only listen.
func accepts(network, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		dialer := net.Dialer{Timeout: probeTimeout}
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// resolves asks the cluster's DNS by its Service, which proves kube-proxy as well.
func resolves(name string) func(context.Context) error {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: probeTimeout}
		return dialer.DialContext(ctx, network, net.JoinHostPort(dnsIP, "53"))
	}}
	return func(ctx context.Context) error {
		// A question asked before kube-proxy wrote its rules is lost: ask anew, don't wait for it.
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		_, err := resolver.LookupHost(ctx, name)
		return err
	}
}
