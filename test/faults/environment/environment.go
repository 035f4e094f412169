// Package environment is what runs of the campaign happen in: a cluster of its own for each worker, with a real API
// server, real workload controllers, the real scheduler, and kwok in the place of the kubelets; and the operator's
// manifests, applied as users apply them.
package environment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// The operator's namespace, service account, user and role, as the manifests have them.
const (
	operatorNamespace = "memcached-operator-system"
	operatorAccount   = "memcached-operator-controller-manager"

	OperatorUser = "system:serviceaccount:" + operatorNamespace + ":" + operatorAccount
	OperatorRole = "memcached-operator-manager-role"
)

// auditPolicy logs all writes in the namespaces of runs with what they store, and the operator's reads without.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: false
rules:
  - level: RequestResponse
    verbs: [create, update, patch, delete, deletecollection]
    resources:
      - {group: cache.example.com, resources: [memcacheds, memcacheds/status, memcacheds/scale]}
      - {group: "", resources: [services, pods, pods/status, pods/eviction]}
      - group: apps
        resources: [deployments, deployments/status, deployments/scale, replicasets, replicasets/status]
      - {group: networking.k8s.io, resources: [networkpolicies]}
      - {group: policy, resources: [poddisruptionbudgets, poddisruptionbudgets/status]}
  - level: Request
    users: ["` + OperatorUser + `"]
    verbs: [create, update, patch, delete, deletecollection]
  - level: Metadata
    users: ["` + OperatorUser + `"]
  - level: None
`

// Environment is a running cluster with the operator's manifests. No operator runs in it yet.
type Environment struct {
	Cluster *local.Cluster
	Client  client.WithWatch // as administrator
	Audit   audit.Log

	// OperatorConfig connects as the operator's service account.
	OperatorConfig *rest.Config

	// Real is whether memcached runs in the Pods. If not, the images do not exist either.
	Real bool

	// Images that Pods can have.
	Images Images
}

// Images are what operators set as their defaults.
type Images struct {
	Memcached, LaterMemcached string // of one release, and of the next
	Agent, LaterAgent         string
}

// unpulled are images of Pods in which nothing runs.
var unpulled = Images{
	Memcached: "registry.example.com/memcached:1", LaterMemcached: "registry.example.com/memcached:2",
	Agent: "registry.example.com/agent:1", LaterAgent: "registry.example.com/agent:2",
}

// Start starts a cluster of simulated Nodes with the given name, or one with a real Node, for which it must be root. It
// ends with the calling process at the latest.
func Start(ctx context.Context, root, name string, nodes plan.Nodes) (*Environment, error) {
	options := local.Options{Name: name, Attached: true, AuditPolicy: auditPolicy}
	if nodes == plan.RealNodes {
		options.Needs = preflight.Memcached()
	} else {
		options.Simulated, options.Architectures = true, []string{"amd64", "arm64", "s390x"}
	}
	cluster, err := local.Up(ctx, options)
	if err != nil {
		return nil, err
	}
	if !cluster.Created {
		return nil, fmt.Errorf("cluster %s runs already: end the other campaign in this folder first", name)
	}
	e := &Environment{
		Cluster: cluster, Audit: audit.Log{Path: cluster.AuditLog}, Real: nodes == plan.RealNodes, Images: unpulled,
	}
	if e.Real {
		err = e.pushImages(ctx, root)
	} else {
		err = e.delayPods()
	}
	if err = errors.Join(err, e.prepare(ctx, root)); err != nil {
		return nil, errors.Join(err, e.Stop(ctx))
	}
	return e, nil
}

// Stop stops the cluster and removes its files.
func (e *Environment) Stop(ctx context.Context) error { return e.Cluster.Down(ctx) }

func (e *Environment) prepare(ctx context.Context, root string) error {
	config, err := e.Cluster.RESTConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), cachev1.AddToScheme(scheme)); err != nil {
		return err
	}
	if e.Client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	manifests := filepath.Join(root, "operator/config/default")
	if err := e.install(ctx, manifests); err != nil {
		return fmt.Errorf("install the operator's manifests: %w", err)
	}
	crds := envtest.CRDInstallOptions{Paths: []string{filepath.Join(manifests, "../crd/bases")}}
	if _, err := envtest.InstallCRDs(config, crds); err != nil {
		return err
	}
	// The garbage collector looks for new kinds every 30 seconds, and at its start.
	if err := e.Cluster.Kill("kube-controller-manager"); err != nil {
		return err
	}
	e.OperatorConfig, err = e.connectAsOperator(ctx, config)
	return err
}

// install applies all but the Deployment, because runs start the operator as a process, and but the bindings: each run
// gives the operator its role in the namespace of the run.
func (e *Environment) install(ctx context.Context, manifests string) error {
	objects, err := kustomize.Objects(manifests)
	if err != nil {
		return err
	}
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment", "ClusterRoleBinding", "RoleBinding":
			continue
		}
		apply := client.ApplyConfigurationFromUnstructured(object)
		if err := e.Client.Apply(ctx, apply, client.FieldOwner("faults")); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// tokenLife is longer than any campaign.
const tokenLife = 24 * time.Hour

func (e *Environment) connectAsOperator(ctx context.Context, admin *rest.Config) (*rest.Config, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(tokenLife.Seconds())),
	}}
	operator := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorAccount}}
	if err := e.Client.SubResource("token").Create(ctx, operator, request); err != nil {
		return nil, fmt.Errorf("get a token of the operator's service account: %w", err)
	}
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken, config.QPS = request.Status.Token, -1
	return config, nil
}
