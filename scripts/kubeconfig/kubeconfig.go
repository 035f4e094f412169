// Package kubeconfig connects to the cluster that kubectl would choose.
package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Connection is a connection to a cluster whose API server has answered.
type Connection struct {
	Context   string // context of the kubeconfig; empty inside a Pod without a kubeconfig
	Namespace string // namespace of the context
	Config    *rest.Config
	Client    client.WithWatch
	Version   *version.Info
}

// Connect reads the kubeconfig file, by default $KUBECONFIG and then ~/.kube/config. Inside a Pod without a kubeconfig,
// it uses the Pod's service account. It uses this context, by default the current one, and requests the version of the
// API server. The user agent appears in the audit log. The API server's warnings are written to warnings.
func Connect(file, context, userAgent string, warnings io.Writer) (c Connection, err error) {
	log.SetLogger(logr.Discard()) // Commands print the errors that the libraries would also log.
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	chosen := &clientcmd.ConfigOverrides{CurrentContext: context}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, chosen)
	raw, rawErr := loader.RawConfig()
	config, configErr := loader.ClientConfig()
	namespace, _, namespaceErr := loader.Namespace()
	if err := cmp.Or(rawErr, configErr, namespaceErr); err != nil {
		return c, fmt.Errorf("no cluster is configured: %w: set KUBECONFIG, choose one of `kubectl config get-contexts` "+
			"by --context, or start a cluster by make demo", err)
	}
	config.UserAgent, config.QPS = userAgent, -1 // no limit, because a command sends one short burst
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	c = Connection{Context: cmp.Or(context, raw.CurrentContext), Namespace: namespace, Config: config}
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return c, err
	}
	if c.Version, err = api.ServerVersion(); err != nil {
		return c, fmt.Errorf("%s does not answer: %w: "+
			"check that the cluster is running, and that --context names the right one", config.Host, err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return c, err
	}
	c.Client, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	return c, err
}
