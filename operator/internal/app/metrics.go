package app

import (
	"context"
	"crypto/tls"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const metricsOff = "0"

// metricsOptions serves metrics over TLS to authorized clients. If the operator does not have the right to authenticate
// clients, it runs without metrics. So an operator that has rights only in some namespaces works, too.
func metricsOptions(ctx context.Context, config *rest.Config, options *Options) (metricsserver.Options, error) {
	metrics := metricsserver.Options{BindAddress: options.MetricsAddress}
	if options.MetricsInsecure || options.MetricsAddress == metricsOff {
		return metrics, nil
	}
	allowed, err := mayReviewTokens(ctx, config)
	if err != nil {
		return metrics, err
	}
	if !allowed {
		ctrl.Log.WithName("metrics").Info("Metrics are off: the operator has no right to authenticate their readers",
			"missing", "create tokenreviews.authentication.k8s.io and subjectaccessreviews.authorization.k8s.io",
			"fix", "bind the ClusterRole memcached-operator-metrics-auth-role, or set --metrics-insecure")
		metrics.BindAddress = metricsOff
		return metrics, nil
	}
	metrics.SecureServing = true
	metrics.FilterProvider = onlyReaders
	// HTTP/2 without limits on streams allows a client to exhaust the server (CVE-2023-44487).
	metrics.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	return metrics, nil
}

func mayReviewTokens(ctx context.Context, config *rest.Config) (bool, error) {
	client, err := authorization.NewForConfig(config)
	if err != nil {
		return false, fmt.Errorf("set up authorization: %w", err)
	}
	for group, resource := range map[string]string{
		"authentication.k8s.io": "tokenreviews", "authorization.k8s.io": "subjectaccessreviews",
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: group, Resource: resource},
		}}
		review, err := client.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, fmt.Errorf("ask what the operator may do: %w", err)
		}
		if !review.Status.Allowed {
			return false, nil
		}
	}
	return true, nil
}
