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

// Connection is a cluster that answers.
type Connection struct {
	Context   string // of the kubeconfig; empty inside a Pod without one
	Namespace string // of the context
	Config    *rest.Config
	Client    client.WithWatch
	Version   *version.Info
}

// Connect reads the file, by default $KUBECONFIG and then ~/.kube/config, and inside a Pod its service account. It
// chooses the context, by default the current one, and asks the API server its version. The audit log has the user
// agent; the API server's warnings are written to warnings.
func Connect(file, context, userAgent string, warnings io.Writer) (c Connection, err error) {
	log.SetLogger(logr.Discard()) // Commands print what the libraries log.
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
	config.UserAgent, config.QPS = userAgent, -1 // one short burst, unlike a controller
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	c = Connection{Context: cmp.Or(context, raw.CurrentContext), Namespace: namespace, Config: config}
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return c, err
	}
	if c.Version, err = api.ServerVersion(); err != nil {
		return c, fmt.Errorf("%s does not answer: %w: is it running, and is it the right --context?", config.Host, err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return c, err
	}
	c.Client, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	return c, err
}
