package target

import (
	"fmt"
	"os"
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

// UserAgent is how the API server's audit log knows the demo.
const UserAgent = "memcached-operator-demo"

// Kube is the cluster of a kubeconfig.
type Kube struct {
	Context string
	Config  *rest.Config
	Client  client.Client
	Version *version.Info
}

// Connect follows the rules of kubectl ($KUBECONFIG, then ~/.kube/config), and asks the API server for its version.
func Connect(context string) (*Kube, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: context})
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, err
	}
	if context == "" {
		context = raw.CurrentContext
	}
	if _, found := raw.Contexts[context]; !found {
		return nil, fmt.Errorf("%s has no context %q", strings.Join(rules.Precedence, string(os.PathListSeparator)), context)
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	return connect(context, config)
}

func connect(context string, config *rest.Config) (*Kube, error) {
	log.SetLogger(logr.Discard()) // The client would else complain that it has nowhere to log.
	config.UserAgent = UserAgent
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // They are about manifests that users can't change here.
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cachev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	kube := &Kube{Context: context, Config: config}
	if kube.Version, err = api.ServerVersion(); err != nil {
		return nil, fmt.Errorf("%s does not answer: %w", config.Host, err)
	}
	kube.Client, err = client.New(config, client.Options{Scheme: scheme})
	return kube, err
}
