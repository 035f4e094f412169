// Package install installs the operator's manifests for a test that runs the operator as a process.
package install

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// The operator's namespace, service account, user and role, as the manifests have them.
const (
	Namespace = "memcached-operator-system"
	account   = "memcached-operator-controller-manager"

	User = "system:serviceaccount:" + Namespace + ":" + account
	Role = "memcached-operator-manager-role"
)

// NewClient returns an administrator's client that knows the operator's API.
func NewClient(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// Manifests applies the operator's manifests of the repository at root, including all optional rights, but not the
// objects whose kind is in without. It waits until the API server serves the CRD.
func Manifests(ctx context.Context, config *rest.Config, kube client.Client, root string, without ...string) error {
	objects, err := kustomize.Objects(filepath.Join(root, "internal/testing/install/everything"))
	if err != nil {
		return fmt.Errorf("build the operator's manifests: %w", err)
	}
	for _, object := range objects {
		if slices.Contains(without, object.GetKind()) {
			continue
		}
		apply := client.ApplyConfigurationFromUnstructured(object)
		if err := kube.Apply(ctx, apply, client.FieldOwner("test")); err != nil {
			return fmt.Errorf("install the operator's manifests: %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	crds := envtest.CRDInstallOptions{Paths: []string{filepath.Join(root, "operator/config/crd/bases")}}
	_, err = envtest.InstallCRDs(config, crds)
	return err
}

// tokenLife is how long the operator's token is valid, which is longer than any run.
const tokenLife = 24 * time.Hour

// Connect returns the configuration with which the operator connects: with a token of its service account.
func Connect(ctx context.Context, admin *rest.Config, kube client.Client) (*rest.Config, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(tokenLife.Seconds())),
	}}
	operator := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: account}}
	if err := kube.SubResource("token").Create(ctx, operator, request); err != nil {
		return nil, fmt.Errorf("get a token of the operator's service account: %w", err)
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = request.Status.Token
	return config, nil
}
