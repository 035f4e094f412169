package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

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

// UserAgent identifies the demo in the API server's audit log.
const UserAgent = "memcached-operator-demo"

// Kube is a cluster.
type Kube struct {
	Context string // of the kubeconfig
	Config  *rest.Config
	Client  client.WithWatch
	Version *version.Info
}

// Connect finds the cluster as kubectl does ($KUBECONFIG, then ~/.kube/config), and asks the API server its version.
func Connect(context string) (Kube, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	chosen := &clientcmd.ConfigOverrides{CurrentContext: context}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, chosen)
	raw, err1 := loader.RawConfig()
	if context = cmp.Or(context, raw.CurrentContext); err1 == nil && context == "" {
		// Inside a Pod, client-go would take the cluster of the Pod.
		err1 = fmt.Errorf("no context is chosen, and %s has no current-context", strings.Join(rules.Precedence, " or "))
	}
	config, err2 := loader.ClientConfig()
	if err := cmp.Or(err1, err2); err != nil {
		return Kube{}, err
	}
	return connect(context, config)
}

func connect(context string, config *rest.Config) (Kube, error) {
	log.SetLogger(logr.Discard()) // Without one, the client logs that it has none.
	config.UserAgent = UserAgent
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // They concern manifests that users cannot change here.
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return Kube{}, err
	}
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return Kube{}, err
	}
	kube := Kube{Context: context, Config: config}
	if kube.Version, err = api.ServerVersion(); err != nil {
		return Kube{}, fmt.Errorf("%s does not answer: %w", config.Host, err)
	}
	kube.Client, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	return kube, err
}
