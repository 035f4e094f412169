package reports

// Reads a report over HTTP. Any client that may write into a Pod decides what the Pod answers, so no part of the answer
// is trusted.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

const (
	// timeout limits how long a Pod may take.
	timeout = 5 * time.Second

	// mostBytes limits the size of a report. It is far more than a report needs.
	mostBytes = 64 << 10
)

// OverHTTP reads reports from the port of the agent's probes, through a proxy if its URL is not empty. It follows no
// redirect, and keeps no connection.
func OverHTTP(proxy string) (Get, error) {
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 4 << 10}
	if proxy != "" {
		parsed, err := url.Parse(proxy)
		if err != nil || parsed.Host == "" {
			return nil, fmt.Errorf("%q is no URL of a proxy: write one such as http://127.0.0.1:3128", proxy)
		}
		transport.Proxy = http.ProxyURL(parsed)
	}
	httpClient := &http.Client{
		Timeout: timeout, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, pod *corev1.Pod, curve bool) (usage.Report, error) {
		host := net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(names.AgentProbePortNumber)))
		address := url.URL{Scheme: "http", Host: host, Path: usage.Path}
		if !curve {
			address.RawQuery = usage.WithoutCurve
		}
		return get(ctx, httpClient, address.String())
	}, nil
}

func get(ctx context.Context, httpClient *http.Client, address string) (usage.Report, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return usage.Report{}, err
	}
	answer, err := httpClient.Do(request)
	if err != nil {
		return usage.Report{}, fmt.Errorf("read from port %d of the Pod: %w", names.AgentProbePortNumber, errors.Unwrap(err))
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes))
	switch {
	case err != nil:
		return usage.Report{}, fmt.Errorf("read the report: %w", err)
	case answer.StatusCode == http.StatusNotFound:
		return usage.Report{}, errors.New("the agent is older than the operator, and reports nothing: restart the Pods")
	case answer.StatusCode != http.StatusOK:
		return usage.Report{}, fmt.Errorf("the agent answers %s: %.200q", answer.Status, content)
	}
	report := usage.Report{}
	if err := json.Unmarshal(content, &report); err != nil {
		return usage.Report{}, fmt.Errorf("the agent's answer is no report: %w", err)
	}
	return report, report.Check()
}
