// Package demotest gives tests an API server that they know every request to, and makes the objects that the demo
// meets in a cluster.
package demotest

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Server is an API server behind a proxy that remembers requests.
type Server struct {
	Client client.Client // of an administrator, past the proxy
	Seen   *Requests     // through the proxy

	dir   string
	env   *envtest.Environment
	proxy *httptest.Server
}

// start starts an API server. stop must be called also after an error.
func start() (*Server, error) {
	log.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: run these tests by `make test`, which builds the API server")
	}
	dir, err := os.MkdirTemp("", "demotest-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, env: &envtest.Environment{BinaryAssetsDirectory: assets}}
	config, err := s.env.Start()
	if err != nil {
		return s, err
	}
	if s.Client, err = client.New(config, client.Options{}); err != nil {
		return s, err
	}
	s.Seen = &Requests{}
	s.proxy, err = s.Seen.proxy(config)
	return s, err
}

// Main runs the tests of a package against a server, which begin finds new.
func Main(m *testing.M, begin func(*Server) error) (code int) {
	server, err := start()
	defer func() {
		if err := server.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	if err == nil {
		err = begin(server)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the API server:", err)
		return 1
	}
	return m.Run()
}

// stop ends what start began.
func (s *Server) stop() error {
	if s == nil {
		return nil
	}
	if s.proxy != nil {
		s.proxy.Close()
	}
	return errors.Join(s.env.Stop(), os.RemoveAll(s.dir))
}

// Context is the one in the kubeconfigs.
const Context = "test"

// Kubeconfig writes a kubeconfig for a user, who reaches the API server through the proxy.
func (s *Server) Kubeconfig(user string, groups ...string) (path string, err error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[Context] = &clientcmdapi.Cluster{Server: s.proxy.URL}
	// The proxy is an administrator who speaks for others.
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Impersonate: user, ImpersonateGroups: groups}
	config.Contexts[Context] = &clientcmdapi.Context{Cluster: Context, AuthInfo: user}
	config.CurrentContext = Context
	path = filepath.Join(s.dir, fmt.Sprintf("%s.kubeconfig", user))
	return path, clientcmd.WriteToFile(*config, path)
}

// Admin is a kubeconfig for somebody who may do everything.
func (s *Server) Admin() (string, error) { return s.Kubeconfig("admin", "system:masters") }

// Create creates objects, with the status that they have.
func (s *Server) Create(ctx context.Context, objects ...client.Object) error {
	for _, object := range objects {
		wanted := object.DeepCopyObject().(client.Object)
		if err := s.Client.Create(ctx, object); err != nil {
			return err
		}
		wanted.SetResourceVersion(object.GetResourceVersion())
		switch wanted.(type) {
		case *corev1.Node: // The API server taints a new node, until it is ready.
			if err := s.Client.Update(ctx, wanted.DeepCopyObject().(client.Object)); err != nil {
				return err
			}
			wanted.SetResourceVersion("")
		case *appsv1.StatefulSet:
		default:
			continue
		}
		if err := s.Client.Status().Update(ctx, wanted); err != nil {
			return err
		}
	}
	return nil
}
